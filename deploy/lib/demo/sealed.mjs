// A device of the demo that opens sealed pushes, with Node's crypto alone.
//
// The member sealed is base64url without padding: byte 0 is the version, 1. Bytes 1 to 4 are the first four of SHA-256 over the device's
// public key. Bytes 5 to 36 are an X25519 public key, made for this push. The rest is the ciphertext of AES-256-GCM with its tag of 16 bytes.
//
// - HKDF-SHA-256 of the shared secret gives 44 bytes. The salt is bytes 5 to 36 and the device's public key, the info `tacet sealed content
//   v1`. The first 32 bytes are the key, the others the nonce.
// - The additional data is bytes 0 to 36, and a SHA-256 over four texts with a zero byte between them: apns or fcm; the registered token (of
//   APNs in lower case); type; and message_id, or subject_id where type is not message.
// - The plaintext is a JSON object, padded with spaces to 256, 512, 1024 or 2048 bytes: issued_at (milliseconds since 1970), title, subtitle,
//   body, image_url and data, without empty ones. A body that does not fit ends in `…`.
//
//   node sealed.mjs key KEY_FILE         makes a private key, and prints its public half
//   node sealed.mjs open KEY_FILE TOKEN  reads a push's payload, and prints its title and body

import { createDecipheriv, createHash, createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

const sha256 = (bytes) => createHash('sha256').update(bytes).digest();

function open(key, token, push) {
  const device = Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x, 'base64url');
  const envelope = Buffer.from(push.sealed, 'base64url');
  const head = envelope.subarray(0, 37);
  if (head[0] !== 1 || !head.subarray(1, 5).equals(sha256(device).subarray(0, 4))) throw new Error('not for this device');
  const ephemeral = head.subarray(5);
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: ephemeral.toString('base64url') }, format: 'jwk' });
  const secret = diffieHellman({ privateKey: key, publicKey });
  const material = Buffer.from(hkdfSync('sha256', secret, Buffer.concat([ephemeral, device]), 'tacet sealed content v1', 44));
  const event = push.type === 'message' ? push.message_id : push.subject_id;
  const decipher = createDecipheriv('aes-256-gcm', material.subarray(0, 32), material.subarray(32));
  decipher.setAAD(Buffer.concat([head, sha256(['apns', token, push.type, event].join('\0'))]));
  decipher.setAuthTag(envelope.subarray(-16));
  return JSON.parse(Buffer.concat([decipher.update(envelope.subarray(37, -16)), decipher.final()]).toString());
}

const [, , command, file, token] = process.argv;
if (command === 'key') {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  console.log(publicKey.export({ format: 'jwk' }).x);
} else {
  const words = open(createPrivateKey(readFileSync(file)), token, JSON.parse(readFileSync(0, 'utf8')));
  console.log(`${words.title}: ${words.body}`);
}
