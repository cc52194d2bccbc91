package bench;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Camunda 7 with its REST API. Settings come from the environment. */
@SpringBootApplication
public class Camunda {
  public static void main(String[] arguments) {
    SpringApplication.run(Camunda.class, arguments);
  }
}
