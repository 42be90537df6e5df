#!/bin/sh
# A refactoring of four Java classes weakens one comparison; later that method moves to a class of its own.
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

/** Writes an invoice: {@code Main <name=count*cents/grams>...}. */
public final class Main {
    public static void main(String[] args) {
        List<Item> items = new ArrayList<>();
        for (String arg : args) {
            items.add(Item.parse(arg));
        }
        System.out.print(new Report(new Invoice(items)).text());
    }

    private Main() {
    }
}
END
put src/Item.java <<'END'
/** One position of an invoice. */
final class Item {
    final String name;
    final int count;
    final long cents;
    final int grams;

    Item(String name, int count, long cents, int grams) {
        this.name = name;
        this.count = count;
        this.cents = cents;
        this.grams = grams;
    }

    static Item parse(String text) {
        String[] parts = text.split("[=*/]");
        return new Item(parts[0], Integer.parseInt(parts[1]), Long.parseLong(parts[2]), Integer.parseInt(parts[3]));
    }
}
END
put src/Invoice.java <<'END'
import java.util.List;

/** What somebody has to pay. */
final class Invoice {
    /** Value added tax in per cent. */
    private static final int TAX = 20;
    private static final long FREE_FROM = 5000;
    private static final long PARCEL = 390;
    private static final long PER_KILO = 50;

    final List<Item> items;

    Invoice(List<Item> items) {
        this.items = items;
    }

    long goods() {
        long goods = 0;
        for (Item item : items) {
            long line = item.cents * item.count;
            if (item.count >= 12) {
                line -= line / 10;
            }
            goods += line;
        }
        return goods;
    }

    long tax() {
        return (goods() + shipping()) * TAX / 100;
    }

    /** Returns the price of a parcel; nothing is charged for large orders. */
    long shipping() {
        long value = 0;
        int grams = 0;
        for (Item item : items) {
            value += item.cents * item.count;
            grams += item.grams * item.count;
        }
        if (value >= FREE_FROM) {
            return 0;
        }
        return PARCEL + grams / 1000 * PER_KILO;
    }

    long total() {
        return goods() + shipping() + tax();
    }
}
END
put src/Report.java <<'END'
/** An invoice as text. */
final class Report {
    private final Invoice invoice;

    Report(Invoice invoice) {
        this.invoice = invoice;
    }

    String text() {
        StringBuilder text = new StringBuilder();
        for (Item item : invoice.items) {
            text.append(line(item.count + " x " + item.name + " at", item.cents));
        }
        text.append(line("goods", invoice.goods()));
        text.append(line("shipping", invoice.shipping()));
        text.append(line("tax", invoice.tax()));
        text.append(line("total", invoice.total()));
        return text.toString();
    }

    private static String line(String name, long cents) {
        return name + " " + euros(cents) + "\n";
    }

    private static String euros(long cents) {
        return String.format("%d.%02d", cents / 100, cents % 100);
    }
}
END
commit ada 0 'Write invoices'
news bob 'Announce the first version'
swap src/Main.java 'Writes an invoice' 'Writes an invoice to standard output'
next cho 'Say where invoices go'
news eli 'Collect wishes about discounts'
news dee 'Collect wishes about parcels'

# The culprit: price() extracted, euros() moved, cents renamed; and >= becomes >.
put src/Item.java <<'END'
/** One position of an invoice. */
final class Item {
    final String name;
    final int count;
    final long unitPrice;
    final int grams;

    Item(String name, int count, long unitPrice, int grams) {
        this.name = name;
        this.count = count;
        this.unitPrice = unitPrice;
        this.grams = grams;
    }

    static Item parse(String text) {
        String[] parts = text.split("[=*/]");
        return new Item(parts[0], Integer.parseInt(parts[1]), Long.parseLong(parts[2]), Integer.parseInt(parts[3]));
    }

    /** Returns the price of all of them, with the discount for a dozen. */
    long price() {
        long price = unitPrice * count;
        if (count >= 12) {
            price -= price / 10;
        }
        return price;
    }

    static String euros(long cents) {
        return String.format("%d.%02d", cents / 100, cents % 100);
    }
}
END
put src/Invoice.java <<'END'
import java.util.List;

/** What somebody has to pay. */
final class Invoice {
    /** Value added tax in per cent. */
    private static final int TAX = 20;
    private static final long FREE_FROM = 5000;
    private static final long PARCEL = 390;
    private static final long PER_KILO = 50;

    final List<Item> items;

    Invoice(List<Item> items) {
        this.items = items;
    }

    long goods() {
        long goods = 0;
        for (Item item : items) {
            goods += item.price();
        }
        return goods;
    }

    long tax() {
        return (goods() + shipping()) * TAX / 100;
    }

    /** Returns the price of a parcel; nothing is charged for large orders. */
    long shipping() {
        long value = 0;
        int grams = 0;
        for (Item item : items) {
            value += item.unitPrice * item.count;
            grams += item.grams * item.count;
        }
        if (value > FREE_FROM) {
            return 0;
        }
        return PARCEL + grams / 1000 * PER_KILO;
    }

    long total() {
        return goods() + shipping() + tax();
    }
}
END
put src/Report.java <<'END'
/** An invoice as text. */
final class Report {
    private final Invoice invoice;

    Report(Invoice invoice) {
        this.invoice = invoice;
    }

    String text() {
        StringBuilder text = new StringBuilder();
        for (Item item : invoice.items) {
            text.append(line(item.count + " x " + item.name + " at", item.unitPrice));
        }
        text.append(line("goods", invoice.goods()));
        text.append(line("shipping", invoice.shipping()));
        text.append(line("tax", invoice.tax()));
        text.append(line("total", invoice.total()));
        return text.toString();
    }

    private static String line(String name, long cents) {
        return name + " " + Item.euros(cents) + "\n";
    }
}
END
next cho 'Let items know their price'

news dee 'Answer the wishes about discounts'
after src/Item.java 'String[] parts = ' <<'END'
        if (parts.length != 4) {
            throw new IllegalArgumentException(text);
        }
END
next bob 'Refuse incomplete items'
news eli 'Greet the meeting in Oslo'

# In the way of the port: the method goes to a class of its own, under another name, and so do its variables.
put src/Shipping.java <<'END'
import java.util.List;

/** How goods get to people, and what that costs. */
final class Shipping {
    private static final long FREE_FROM = 5000;
    private static final long PARCEL = 390;
    private static final long PER_KILO = 50;

    /** Returns the price of a parcel with all of these; nothing is charged for large orders. */
    static long costOf(List<Item> goods) {
        long worth = 0;
        int grams = 0;
        for (Item item : goods) {
            worth += item.unitPrice * item.count;
            grams += item.grams * item.count;
        }
        if (worth > FREE_FROM) {
            return 0;
        }
        return PARCEL + grams / 1000 * PER_KILO;
    }

    private Shipping() {
    }
}
END
put src/Invoice.java <<'END'
import java.util.List;

/** What somebody has to pay. */
final class Invoice {
    /** Value added tax in per cent. */
    private static final int TAX = 20;

    final List<Item> items;

    Invoice(List<Item> items) {
        this.items = items;
    }

    long goods() {
        long goods = 0;
        for (Item item : items) {
            goods += item.price();
        }
        return goods;
    }

    long shipping() {
        return Shipping.costOf(items);
    }

    long tax() {
        return (goods() + shipping()) * TAX / 100;
    }

    long total() {
        return goods() + shipping() + tax();
    }
}
END
next ada 'Give shipping a class of its own'
news cho 'Plan the second version'
put_test
next bob 'Test that an order of 50 is shipped free of charge'
news dee 'Thank the contributors'
finish
