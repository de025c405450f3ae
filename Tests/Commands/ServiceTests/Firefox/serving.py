"""What the servers of the harness share: HTTP on the loopback address, and a record that a test can wait on."""

import http.server
import ssl
import sys
import threading

BODY_BYTES_MAX = 1 << 20
WITHOUT_BODY = (204, 304)


class Record:
    """State that servers change under `changed`, in any thread."""

    def __init__(self):
        self.changed = threading.Condition()

    def wait(self, what, seconds, condition):
        """Waits until `condition()` is true after a change, and returns its value."""
        with self.changed:
            if not self.changed.wait_for(condition, seconds):
                raise AssertionError(f"waited {seconds} s for {what}")
            return condition()


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    def read_body(self):
        """The body; None for one that is too long or of no stated length."""
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > BODY_BYTES_MAX:
            self.close_connection = True
            return None
        return self.rfile.read(int(length))

    def finish_answer(self, status, fields=None, body=b""):
        try:
            self.send_response(status)
            for name, value in (fields or {}).items():
                self.send_header(name, value)
            if status not in WITHOUT_BODY:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if status not in WITHOUT_BODY:
                self.wfile.write(body)
        except OSError:
            # The client has given up.
            self.close_connection = True

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """Threads that end with the program, and silence about connections that peers break."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def serve(handler, record, port=0, certificate=None, key=None):
    """Serves in the background, with TLS given a certificate; handlers find the `record`. Returns the port."""
    server = Server(("127.0.0.1", port), handler)
    server.record = record
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port
