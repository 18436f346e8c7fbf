// A push service and a browser's subscription. Messages are decrypted by a library of its own (RFC 8188 and 8291) and signatures
// are verified by Node (RFC 8292): neither shares anything with the server's code.

import { createECDH, createPublicKey, randomBytes, verify } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { encryptedContent } from "./environment.mjs";
import { waitFor } from "./waiting.mjs";

/** The keys of a browser, and how it reads its messages. */
export class Subscriber {
  #ecdh = createECDH("prime256v1");
  #auth = randomBytes(16);

  constructor() {
    this.#ecdh.generateKeys();
  }

  get keys() {
    return { p256dh: this.#ecdh.getPublicKey("base64url"), auth: this.#auth.toString("base64url") };
  }

  /** The text of an encrypted body (RFC 8188 and 8291). */
  decrypt(body) {
    return encryptedContent.decrypt(body, { version: "aes128gcm", privateKey: this.#ecdh, authSecret: this.#auth.toString("base64url") }).toString();
  }
}

/** The claims of the token in an `Authorization` header, if the key in it signed them. */
export function verifiedClaims(authorization) {
  const [, token, key] = authorization.match(/^vapid t=([^,]+), k=(.+)$/);
  const [header, claims, signature] = token.split(".");
  const point = Buffer.from(key, "base64url");
  const jwk = { kty: "EC", crv: "P-256", x: point.subarray(1, 33).toString("base64url"), y: point.subarray(33).toString("base64url") };
  const publicKey = createPublicKey({ key: jwk, format: "jwk" });
  const isValid = verify("sha256", Buffer.from(`${header}.${claims}`), { key: publicKey, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url"));
  if (!isValid) throw new Error("the signature is wrong");
  const json = (part) => JSON.parse(Buffer.from(part, "base64url"));
  return { key, header: json(header), claims: json(claims) };
}

/** A push service on this machine. `answers` are the statuses of the next requests; then it is 201. */
export class PushService {
  #server = createServer();
  received = [];
  answers = [];

  static async start() {
    const service = new PushService();
    service.#server.on("request", async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      service.received.push({ path: request.url, headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(service.answers.shift() ?? 201).end();
    });
    service.#server.listen(0, "127.0.0.1");
    await once(service.#server, "listening");
    return service;
  }

  endpoint(name) {
    return `http://127.0.0.1:${this.#server.address().port}/push/${name}`;
  }

  /** The requests for an endpoint, once there are that many. */
  async requests(name, count = 1) {
    const all = () => this.received.filter(({ path }) => path === `/push/${name}`);
    return waitFor(() => all().length >= count && all(), `${count} messages for ${name}`);
  }

  async end() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
