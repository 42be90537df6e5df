/* Sed example of "Concolic Fault Abstraction", Fig. 1: last_regex is never set (line numbers follow the figure; -DFIXED gives a passing run). */
struct vector { struct sed_cmd *v; int v_length; int v_allocated; } *the_program = 0;
struct re_pattern_buffer { unsigned char *buffer; unsigned long re_nsub; } *last_regex;
struct sed_cmd { struct addr { int addr_type; struct re_pattern_buffer *addr_regex; int addr_number; } a1, a2; int cmd; };
int main (int argc, char **argv)
{
  void compile_file (const char *), read_file (const char *);
  compile_file (argc > 1 ? argv[1] : "/start/,/end/s/one/two/g\np\n");
  read_file ("line one\nline two\nend\n");
  return 0;
}
struct vector *compile_program (struct vector *); int compile_address (struct addr *); void scan_text (const char *);
void compile_file (const char *script)
{
  scan_text (script);
  the_program = compile_program (the_program);
  scan_text ("end of script\n");
}
#include <stdlib.h>
struct vector *compile_program (struct vector *vector)
{
  struct sed_cmd *cur_cmd;
  vector = (struct vector *) malloc (sizeof (struct
      vector));
  vector->v = (struct sed_cmd *) malloc (40 *
      sizeof (struct sed_cmd));
  vector->v_length = 0;

  cur_cmd = vector->v + vector->v_length;

  compile_address (&(cur_cmd->a1));

  return vector;
}
void execute_program (struct vector *), compile_regex (void);
int compile_address (struct addr *addr)
{

#ifdef FIXED
  compile_regex ();
#endif
  addr->addr_regex = last_regex;
  return 1;
}
void read_file (const char *text)
{
  scan_text (text);
  execute_program (the_program);

}
int match_address (struct addr *);
void execute_program (struct vector *vec)
{
  struct sed_cmd *cur_cmd;

  cur_cmd = vec->v;
  scan_text ("next cycle\n");
  match_address (&(cur_cmd->a1));

}
int re_search (struct re_pattern_buffer *, const char *);
int match_address (struct addr *addr)
{

  return re_search (addr->addr_regex, "line one");

}

int
re_search (struct re_pattern_buffer *rxb, const char *text)
{

  unsigned num_regs = rxb->re_nsub + 1;
  return num_regs != 0 && text[0] != 0;
}

/* Work that has no influence on the fault: counts characters, words and lines. */
unsigned long char_count, word_count, line_count;

void scan_text (const char *text)
{
  int in_word = 0;

  for (; *text != 0; text++)
    {
      char_count++;
      if (*text == '\n')
        line_count++;
      if (*text == ' ' || *text == '\n' || *text == '/')
        in_word = 0;
      else if (!in_word)
        {
          in_word = 1;
          word_count++;
        }
    }
}

/* The initialisation that the fault leaves out. */
void compile_regex (void)
{
  last_regex = (struct re_pattern_buffer *) calloc (1, sizeof *last_regex);
}
