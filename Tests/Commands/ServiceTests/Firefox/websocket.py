"""Both ends of a WebSocket (RFC 6455) over a blocking socket: text messages only, no extensions."""

import base64
import hashlib
import os
import socket
import struct
import threading

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
# A screenshot is the largest message.
MESSAGE_BYTES_MAX = 64 << 20
CONTINUATION, TEXT, CLOSE, PING, PONG = 0, 1, 8, 9, 10


class Closed(Exception):
    """The peer has ended the connection."""


def accept_key(key):
    """The value of Sec-WebSocket-Accept (RFC 6455 section 4.2.2)."""
    return base64.b64encode(hashlib.sha1(key.encode() + MAGIC).digest()).decode()


class WebSocket:
    """An open connection. One thread receives; any thread sends."""

    def __init__(self, connection, reader, is_client):
        self.connection, self.reader, self.is_client = connection, reader, is_client
        self.sending = threading.Lock()

    @classmethod
    def connect(cls, host, port, path, patience):
        """Opens a connection as a client. `patience`: seconds that any later wait may take."""
        connection = socket.create_connection((host, port), patience)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        reader = connection.makefile("rb")
        status = reader.readline(1000)
        fields = {}
        while (line := reader.readline(1000).strip()) != b"":
            name, _, value = line.decode("latin-1").partition(":")
            fields[name.lower()] = value.strip()
        if b" 101 " not in status or fields.get("sec-websocket-accept") != accept_key(key):
            raise Closed(f"{host}:{port}{path} refuses WebSocket: {status!r}")
        return cls(connection, reader, is_client=True)

    @classmethod
    def accept(cls, request, protocol):
        """Answers the upgrade request that a BaseHTTPRequestHandler has read, and takes its connection over."""
        request.send_response(101)
        request.send_header("Upgrade", "websocket")
        request.send_header("Connection", "Upgrade")
        request.send_header("Sec-WebSocket-Accept", accept_key(request.headers["Sec-WebSocket-Key"]))
        request.send_header("Sec-WebSocket-Protocol", protocol)
        request.end_headers()
        request.wfile.flush()
        request.close_connection = True
        return cls(request.connection, request.rfile, is_client=False)

    def send(self, text):
        try:
            self._send_frame(TEXT, text.encode())
        except OSError as error:
            raise Closed(str(error)) from error

    def receive(self):
        """The next text message. Answers pings meanwhile.

        Throws `Closed` when the peer has closed; `TimeoutError` when it stays silent too long.
        """
        message = b""
        try:
            while True:
                is_final, code, payload = self._receive_frame()
                if code == PING:
                    self._send_frame(PONG, payload)
                elif code == CLOSE:
                    self._send_frame(CLOSE, payload)
                    raise Closed("closed by the peer")
                elif code in (TEXT, CONTINUATION):
                    message += payload
                    if len(message) > MESSAGE_BYTES_MAX:
                        raise Closed("a message is too long")
                    if is_final:
                        return message.decode()
        except TimeoutError:
            raise
        except (OSError, ValueError) as error:
            raise Closed(str(error)) from error

    def close(self):
        """Ends the connection at once, also under a thread that receives."""
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.connection.close()

    def _send_frame(self, code, payload):
        masked = 0x80 if self.is_client else 0
        length = len(payload)
        if length < 126:
            head = struct.pack("!BB", 0x80 | code, masked | length)
        elif length < 1 << 16:
            head = struct.pack("!BBH", 0x80 | code, masked | 126, length)
        else:
            head = struct.pack("!BBQ", 0x80 | code, masked | 127, length)
        if self.is_client:
            mask = os.urandom(4)
            head, payload = head + mask, _mask(payload, mask)
        with self.sending:
            self.connection.sendall(head + payload)

    def _receive_frame(self):
        first, second = self._read(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", self._read(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", self._read(8))
        if length > MESSAGE_BYTES_MAX:
            raise Closed("a frame is too long")
        mask = self._read(4) if second & 0x80 else None
        payload = self._read(length)
        return bool(first & 0x80), first & 0x0F, _mask(payload, mask) if mask else payload

    def _read(self, count):
        data = self.reader.read(count)
        if len(data) < count:
            raise Closed("the connection ended")
        return data


def _mask(payload, mask):
    """XOR with the repeated mask, as one large number: a loop over the bytes takes seconds for a screenshot."""
    count = len(payload)
    if count == 0:
        return b""
    repeated = (mask * (count // 4 + 1))[:count]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(count, "big")
