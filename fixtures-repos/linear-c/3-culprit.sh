# Commit 34, the culprit: 40 lines, one of which makes every operator group from the right.

swap lexer.h '    TOKEN_PERCENT,' '    TOKEN_PERCENT,
    TOKEN_POWER,'
before lexer.c "    case '(':" <<'END'
    case '^':
        lexer->kind = TOKEN_POWER;
        break;
END
swap parser.c '/* Operators between two operands; a higher level binds tighter. */' '/* Operators between two operands; a higher level binds tighter, and ^ tightest of all. */'
swap parser.c '    { TOKEN_PERCENT, 20 },' '    { TOKEN_PERCENT, 20 },
    { TOKEN_POWER, 40 },'
swap parser.c '        right = parse_binary(parser, binary->level + 1);' '        right = parse_binary(parser, binary->level);'
before eval.c 'static double binary(struct context *context' <<'END'
/* Whole exponents are multiplied out, which is exact as long as the result is. */
static double power(struct context *context, double base, double exponent)
{
    double result = 1;
    int i;

    if (base == 0 && exponent < 0)
        return fail(context, "division by zero");
    if (base < 0 && exponent != floor(exponent))
        return fail(context, "no real number");
    if (exponent != floor(exponent) || fabs(exponent) > 64)
        return pow(base, exponent);
    for (i = 0; i < fabs(exponent); i++)
        result *= base;
    if (isinf(result))
        return fail(context, "the result is too large");
    return exponent < 0 ? 1 / result : result;
}

END
after eval.c 'right == 0 ? fail(context, "division by zero") : fmod(left, right);' <<'END'
    case TOKEN_POWER:
        return power(context, left, right);
END
case_of '2 ^ 10' 1024
case_of '2 ^ 3 ^ 2' 512
case_of '2 ^ -1' 0.5
case_of '4 ^ 0.5' 2
case_of '0 ^ -1' 'abacus: division by zero'
case_of '(-2) ^ 0.5' 'abacus: no real number'
add README.md <<'END'

## Operators

From weak to strong: `+ -`, then `* / %`, then `^`. A minus sign in front of an operand is stronger than all of them, so `-2 ^ 2` is 4.
END
next dee 'Add the power operator'
