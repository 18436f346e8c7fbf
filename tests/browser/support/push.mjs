// A push service and a browser's subscription, made with Node's own cryptography: an implementation of RFC 8291 and 8292 that shares
// nothing with the server's.

import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
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
    const salt = body.subarray(0, 16);
    const recordSize = body.readUInt32BE(16);
    const sender = body.subarray(21, 21 + body[20]);
    const record = body.subarray(21 + body[20]);
    if (record.length > recordSize) throw new Error("more than one record");
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), this.#ecdh.getPublicKey(), sender]);
    const input = Buffer.from(hkdfSync("sha256", this.#ecdh.computeSecret(sender), this.#auth, info, 32));
    const key = Buffer.from(hkdfSync("sha256", input, salt, "Content-Encoding: aes128gcm\0", 16));
    const nonce = Buffer.from(hkdfSync("sha256", input, salt, "Content-Encoding: nonce\0", 12));
    const decipher = createDecipheriv("aes-128-gcm", key, nonce);
    decipher.setAuthTag(record.subarray(-16));
    const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
    const end = padded.findLastIndex((byte) => byte !== 0);
    if (padded[end] !== 2) throw new Error("not the last record");
    return padded.subarray(0, end).toString();
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
