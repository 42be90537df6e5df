/* After the gzip fault in "Concolic Fault Abstraction": huft_build reports success when its allocation fails (-DFIXED returns the right code). */
#include <stddef.h>

#define SYMBOLS 6
#define POOL_ENTRIES 20

struct huft
{
  unsigned char bits;           /* code length */
  unsigned char symbol;
};

static const unsigned char input[] = { 0x21, 0x23, 0x33, 0x32, 0x44, 0x14, 0x00, 0x00 };
static unsigned inptr;
static unsigned bitbuf;
static unsigned bitcnt;

static struct huft pool[POOL_ENTRIES];
static unsigned pool_used;

/* Looks at the next n bits of the input without taking them. */
static unsigned peek_bits (unsigned n)
{
  while (bitcnt < n)
    {
      bitbuf |= (unsigned) input[inptr] << bitcnt;
      inptr++;
      bitcnt += 8;
    }
  return bitbuf & ((1u << n) - 1);
}

static unsigned get_bits (unsigned n)
{
  unsigned value = peek_bits (n);

  bitbuf >>= n;
  bitcnt -= n;
  return value;
}

static struct huft *pool_alloc (unsigned entries)
{
  struct huft *result = NULL;

  if (pool_used + entries <= POOL_ENTRIES)
    {
      result = pool + pool_used;
      pool_used += entries;
    }
  return result;
}

/* Builds a decoding table: 0 = built, 3 = out of memory. */
static int huft_build (const unsigned *lengths, struct huft **t, unsigned *m)
{
  unsigned longest = 0;
  unsigned entries;
  unsigned i;
  struct huft *q;

  for (i = 0; i < SYMBOLS; i++)
    if (lengths[i] > longest)
      longest = lengths[i];
  entries = 1u << longest;
  *m = longest;
  q = pool_alloc (entries);
  *t = q;
  if (q == NULL)
#ifdef FIXED
    return 3;
#else
    return 0;
#endif
  for (i = 0; i < SYMBOLS; i++)
    {
      q[i].bits = (unsigned char) lengths[i];
      q[i].symbol = (unsigned char) i;
    }
  return 0;
}

static void read_lengths (unsigned *lengths)
{
  unsigned i;

  for (i = 0; i < SYMBOLS; i++)
    lengths[i] = get_bits (4);
}

static int inflate_dynamic (void)
{
  unsigned lengths[SYMBOLS];
  struct huft *tl = NULL;
  struct huft *td = NULL;
  unsigned bl, bd;
  int r;

  read_lengths (lengths);
  r = huft_build (lengths, &tl, &bl);
  if (r != 0)
    return r;
  read_lengths (lengths);
  r = huft_build (lengths, &td, &bd);
  if (r != 0)
    return r;
  td = td + peek_bits (bd);
  return td->bits + tl->bits;
}

int main (void)
{
  return inflate_dynamic ();
}
