/** Names and texts that UTF-8 writes otherwise. */
class Text {
    static String 𝒳é() {
        return "zero \0, two units 𝒳, three bytes €";
    }
}
