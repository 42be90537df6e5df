#!/bin/sh
# A time may no longer have a unit; the same exception comes for another setting.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/out/
END
put src/Settings.java <<'END'
/** Settings of a connection: {@code Settings <name=value>...} prints them. */
public final class Settings {
    private int retry = 3;
    private int timeout = 60;

    private static int seconds(String text) {
        String digits = text.trim();
        if (digits.endsWith("s")) {
            digits = digits.substring(0, digits.length() - 1);
        }
        return Integer.parseInt(digits);
    }

    private void set(String name, String value) {
        switch (name) {
            case "retry":
                retry = seconds(value);
                break;
            case "timeout":
                timeout = seconds(value);
                break;
            default:
                throw new IllegalArgumentException("no such setting: " + name);
        }
    }

    public static void main(String[] args) {
        Settings settings = new Settings();
        for (String arg : args) {
            int at = arg.indexOf('=');
            settings.set(arg.substring(0, at), arg.substring(at + 1));
        }
        System.out.println("retry after " + settings.retry + " s, give up after " + settings.timeout + " s");
    }
}
END
commit ada 0 'Print settings'
news bob 'Announce the first version'
for topic in hosts ports; do news dee "Collect wishes about $topic"; done

put src/Settings.java <<'END'
/** Settings of a connection: {@code Settings <name=value>...} prints them. */
public final class Settings {
    private int retry = 3;
    private int timeout = 60;

    private static int seconds(String text) {
        return Integer.parseInt(text.trim());
    }

    /** Seconds of a time, which may have a unit. */
    private static int time(String text) {
        String digits = text.trim();
        int factor = 1;
        if (digits.endsWith("min")) {
            digits = digits.substring(0, digits.length() - 3);
            factor = 60;
        } else if (digits.endsWith("s")) {
            digits = digits.substring(0, digits.length() - 1);
        }
        return factor * seconds(digits);
    }

    private void set(String name, String value) {
        switch (name) {
            case "retry":
                retry = Math.max(1, time(value));
                break;
            case "timeout":
                timeout = seconds(value);
                break;
            default:
                throw new IllegalArgumentException("no such setting: " + name);
        }
    }

    public static void main(String[] args) {
        Settings settings = new Settings();
        for (String arg : args) {
            int at = arg.indexOf('=');
            settings.set(arg.substring(0, at), arg.substring(at + 1));
        }
        System.out.println("retry after " + settings.retry + " s, give up after " + settings.timeout + " s");
    }
}
END
next eli 'Allow minutes between two tries'
news bob 'Thank the translators'
news cho 'Plan the second version'

put_test
next cho 'Test a time limit with its unit'
finish
