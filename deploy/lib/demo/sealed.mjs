// A device of the demo that opens sealed pushes, with Node's crypto alone, as deploy/API.md describes.
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
