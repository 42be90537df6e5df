#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/out/
END
put src/Main.java <<'END'
import java.util.ArrayList;
import java.util.List;

/** Splits a bill: {@code Main <people> <name=cents>...}. */
public final class Main {
    public static void main(String[] args) {
        int people = Integer.parseInt(args[0]);
        List<Item> items = new ArrayList<>();
        for (int i = 1; i < args.length; i++) {
            items.add(Item.parse(args[i]));
        }
        Bill bill = new Bill(items);
        StringBuilder line = new StringBuilder();
        for (long share : bill.shares(people)) {
            line.append(share).append(' ');
        }
        System.out.println(line.toString().trim());
    }

    private Main() {
    }
}
END
put src/Item.java <<'END'
/** One position of a bill. */
final class Item {
    final String name;
    final long cents;

    Item(String name, long cents) {
        this.name = name;
        this.cents = cents;
    }

    static Item parse(String text) {
        int at = text.indexOf('=');
        return new Item(text.substring(0, at), Long.parseLong(text.substring(at + 1)));
    }
}
END
put src/Bill.java <<'END'
import java.util.List;

/** A bill that is shared. */
final class Bill {
    private final List<Item> items;

    Bill(List<Item> items) {
        this.items = items;
    }

    long total() {
        long total = 0;
        for (Item item : items) {
            total += item.cents;
        }
        return total;
    }

    /** Returns what everybody pays; the first ones pay the rest. */
    long[] shares(int people) {
        long[] shares = new long[people];
        long total = total();
        long rest = total % people;
        for (int i = 0; i < people; i++) {
            shares[i] = total / people + (i < rest ? 1 : 0);
        }
        return shares;
    }
}
END
put_test
commit ada 0 'Split a bill'
news bob 'Announce the first version'
put src/Tip.java <<'END'
/** A tip in per cent of the total. */
final class Tip {
    private final int percent;

    Tip(int percent) {
        this.percent = percent;
    }

    long of(long cents) {
        return cents * percent / 100;
    }
}
END
next cho 'Compute a tip'
for topic in currencies rounding; do news dee "Collect wishes about $topic"; done
swap src/Item.java 'static Item parse(String text) {' 'static Item parse(String text) { // name=cents'
next bob 'Explain what is parsed'
after src/Bill.java '/** A bill that is shared. */' <<'END'
// Amounts are in cents; nobody is ever charged a fraction.
END
next ada 'Say what the unit is'
news eli 'Say how to build with an editor'
after src/Bill.java 'private final List<Item> items;' <<'END'
    private Tip tip = new Tip(0);
END
after src/Bill.java 'this.items = items;' <<'END'
    }

    void setTip(Tip tip) {
        this.tip = tip;
END
swap src/Bill.java 'long total = total();' 'long total = total() + tip.of(total());'
next bob 'Add a tip to the bill'
news bob 'Plan the second version'
swap src/Bill.java 'for (Item item : items) {' 'for (final Item item : items) {'
swap src/Bill.java 'for (int i = 0; i < people; i++) {' 'for (int i = 0; i < shares.length; i++) {'
swap src/Bill.java '(i < rest ? 1 : 0)' '(i <= rest ? 1 : 0)'
next cho 'Tidy the loops of the bill'
news dee 'Answer the wishes about rounding'
after src/Main.java 'Bill bill = new Bill(items);' <<'END'
        bill.setTip(new Tip(Integer.getInteger("tip", 0)));
END
next ada 'Take the tip from a property'
news dee 'Answer the wishes about currencies'
news eli 'Greet the meeting in Oslo'
news bob 'Thank the contributors'
finish
