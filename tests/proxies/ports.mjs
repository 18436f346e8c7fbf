// Ports of programs that tests start.

import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";

export async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Resolves when something accepts connections on the port. `connect(port)` opens one, which is up with the event `isUp`. */
export async function untilListening(port, child, connect = (to) => net.connect({ port: to, host: "127.0.0.1" }), isUp = "connect") {
  for (;;) {
    assert.equal(child.exitCode, null, "the program ended");
    const socket = connect(port);
    const [event] = await Promise.race([once(socket, isUp).then(() => ["up"]), once(socket, "error")]);
    socket.destroy();
    if (event === "up") return;
  }
}
