// A server of mcp-go.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	s := server.NewMCPServer("mcp-go", "1.0.0", server.WithToolCapabilities(true), server.WithLogging())
	s.AddTool(mcp.NewTool("add",
		mcp.WithDescription("Adds two numbers"),
		mcp.WithReadOnlyHintAnnotation(true),
		mcp.WithNumber("a", mcp.Required(), mcp.Min(0)),
		mcp.WithNumber("b", mcp.DefaultNumber(1)),
	), func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		sum := request.GetFloat("a", 0) + request.GetFloat("b", 1)
		return mcp.NewToolResultStructured(map[string]any{"sum": sum}, fmt.Sprint(sum)), nil
	})
	s.AddTool(mcp.NewTool("count", mcp.WithDescription("Counts with notifications"), mcp.WithNumber("to")),
		func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i := range request.GetInt("to", 3) {
				_ = server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/message",
					map[string]any{"level": "info", "data": i})
			}
			return mcp.NewToolResultText("counted"), nil
		})
	log.Fatal(server.NewStreamableHTTPServer(s).Start("127.0.0.1:" + os.Args[1]))
}
