/**
 * The barest server there is: what one socket sends, all others get.
 *
 * @module
 */

const sockets = new Set<WebSocket>();

const server = Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: () => {},
}, (request) => {
  const { socket, response } = Deno.upgradeWebSocket(request);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => void sockets.add(socket);
  socket.onclose = () => void sockets.delete(socket);
  socket.onmessage = ({ data }) => {
    for (const other of sockets) if (other !== socket) other.send(data);
  };
  return response;
});
Deno.stdout.writeSync(new TextEncoder().encode(`${server.addr.port}\n`));
