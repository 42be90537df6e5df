import java.util.List;

public class Modern {
    sealed interface Shape permits Circle, Rectangle {}

    record Circle(double radius) implements Shape {}

    record Rectangle(int width, int height) implements Shape {
        Rectangle {
            if (width < 0) {
                throw new IllegalArgumentException("width " + width);
            }
        }
    }

    static String told(Shape shape) {
        if (shape instanceof Circle circle && circle.radius() > 1) {
            return "large " + circle;
        }
        return shape instanceof Rectangle r ? r.width() * r.height() + " " + r.equals(new Rectangle(2, 3)) : "small";
    }

    static int days(String month) {
        return switch (month) {
            case "feb" -> 28;
            case "apr", "jun" -> 30;
            default -> {
                int n = month.length();
                yield n + 28;
            }
        };
    }

    public static void main(String[] args) {
        var text = """
            block "text"
              end""";
        for (Shape shape : List.of(new Circle(2), new Circle(1), new Rectangle(2, 3), new Rectangle(1, 1))) {
            System.out.println(told(shape));
        }
        System.out.println(text + days("feb") + days("jun") + days("mar") + new Circle(3).hashCode());
        try {
            new Rectangle(-1, 0);
        } catch (IllegalArgumentException error) {
            System.out.println(error.getMessage());
        }
    }
}
