import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema;
import java.util.Map;
import org.apache.catalina.startup.Tomcat;

/** A server of the Java SDK. */
public class Server {
    private static final String SCHEMA =
        "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}";

    public static void main(String[] arguments) throws Exception {
        var transport = HttpServletStreamableServerTransportProvider.builder().mcpEndpoint("/mcp").build();
        McpServer.sync(transport)
            .serverInfo("java-sdk", "1.0.0")
            .capabilities(McpSchema.ServerCapabilities.builder().tools(true).logging().build())
            .toolCall(tool("echo", "Echoes a text"), (exchange, request) -> text("echo: " + request.arguments().get("text")))
            .toolCall(tool("ping", "Pings the client in the middle of the call"), (exchange, request) -> {
                exchange.ping();
                return text("pinged");
            })
            .toolCall(tool("fail", "Answers with an error"), (exchange, request) ->
                McpSchema.CallToolResult.builder().addTextContent("no such thing").isError(true).build())
            .build();
        var tomcat = new Tomcat();
        tomcat.setBaseDir(System.getProperty("java.io.tmpdir"));
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(Integer.parseInt(arguments[0]));
        var context = tomcat.addContext("", null);
        var wrapper = Tomcat.addServlet(context, "mcp", transport);
        wrapper.setAsyncSupported(true);
        context.addServletMappingDecoded("/mcp", "mcp");
        tomcat.getConnector();
        tomcat.start();
        tomcat.getServer().await();
    }

    private static McpSchema.Tool tool(String name, String description) {
        return McpSchema.Tool.builder().name(name).description(description)
            .inputSchema(McpJsonDefaults.getMapper(), SCHEMA).build();
    }

    private static McpSchema.CallToolResult text(String text) {
        return McpSchema.CallToolResult.builder().addTextContent(text).build();
    }
}
