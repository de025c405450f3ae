private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

private func post(_ fields: String, _ content: String = "") -> String {
  "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(content)"
}

/// Requests with content that must be processed, each with the rule that says so.
let acceptedContents: [RequestCase] = acceptedLengths + acceptedChunks

private let acceptedLengths: [RequestCase] = [
  .accepted("9110-8.6 zero", post("Content-Length: 0"), "POST /"),
  .accepted("9110-8.6 zeros", post("Content-Length: 000"), "POST /"),
  .accepted("9110-8.6", post("Content-Length: 5", "hello"), "POST / hello"),
  .accepted("9110-8.6 blanks around", post("Content-Length: \t5 ", "hello"), "POST / hello"),
  .accepted("9110-8.6 leading zero", post("Content-Length: 005", "hello"), "POST / hello"),
  .accepted("9110-8.6 name case", post("CONTENT-length: 5", "hello"), "POST / hello"),
  .accepted(
    "9110-8.6 as much as allowed", post("Content-Length: 64", String(repeating: "x", count: 64)),
    "POST / " + String(repeating: "x", count: 64)),
  .accepted(
    "9110-8.6 content may look like a request", post("Content-Length: 18", "GET / HTTP/1.1\r\n\r\n"),
    "POST / GET / HTTP/1.1\r\n\r\n"),
  .accepted(
    "9110-8.6 content may be control characters", post("Content-Length: 4", "\0\r\n\u{7f}"),
    "POST / \0\r\n\u{7f}"),
  .accepted("9110-9.3.1 GET with content", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", "GET / hi"),
  .accepted(
    "9110-9.3.2 HEAD with content", "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi" + get,
    "HEAD / hi", "GET /"),
  .accepted("9112-6.3 no framing", "POST / HTTP/1.1\r\nHost: a\r\n\r\n" + get, "POST /", "GET /"),
]

private let acceptedChunks: [RequestCase] = [
  .accepted("9112-7.1", chunks: "5\r\nhello\r\n0\r\n\r\n", content: "hello"),
  .accepted("9112-7.1 several", chunks: "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", content: "hello"),
  .accepted(
    "9112-7.1 hex", chunks: "0a\r\n0123456789\r\n0A\r\nabcdefghij\r\n000\r\n\r\n",
    content: "0123456789abcdefghij"),
  .accepted("9112-7.1 fifteen digits", chunks: "000000000000001\r\nx\r\n000000000000000\r\n\r\n", content: "x"),
  .accepted("9112-7.1 empty", chunks: "0\r\n\r\n", content: ""),
  .accepted(
    "9112-7.1 as much as allowed", chunks: "40\r\n\(String(repeating: "x", count: 64))\r\n0\r\n\r\n",
    content: String(repeating: "x", count: 64)),
  .accepted("9112-7.1 data may hold line ends", chunks: "4\r\n\r\n0\r\r\n0\r\n\r\n", content: "\r\n0\r"),
  .accepted("9112-7.1 data may look like the end", chunks: "5\r\n0\r\n\r\n\r\n0\r\n\r\n", content: "0\r\n\r\n"),
  .accepted("9112-7.1.1", chunks: "1;a;b=c;d=\"e;\\\"\"\r\nx\r\n0;z\r\n\r\n", content: "x"),
  .accepted("9112-7.1.1 blanks", chunks: "1 ; a = b\r\nx\r\n0\r\n\r\n", content: "x"),
  .accepted("9112-7.1.1 tabs", chunks: "1\t;\ta\t=\t\"b\"\r\nx\r\n0\r\n\r\n", content: "x"),
  .accepted("9112-7.1.1 empty quotes", chunks: "1;a=\"\"\r\nx\r\n0\r\n\r\n", content: "x"),
  .accepted("9112-7.1.1 obsolete text in quotes", chunks: "1;a=\"\u{e9}\"\r\nx\r\n0\r\n\r\n", content: "x"),
  .accepted(
    "9112-7.1.1 a line of the limit", chunks: "1;\(String(repeating: "e", count: 254))\r\nx\r\n0\r\n\r\n",
    content: "x"),
  .accepted("9112-7.1.2", chunks: "1\r\nx\r\n0\r\nX: y\r\n\r\n", content: "x"),
  .accepted(
    "9112-7.1.2 framing fields are dropped",
    chunks: "1\r\nx\r\n0\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\nHost: b\r\nConnection: close\r\n\r\n",
    content: "x"),
  .accepted("9112-7.1.2 empty value", chunks: "0\r\nX:\r\n\r\n", content: ""),
  .accepted(
    "9112-7.1.2 as many as allowed", chunks: "0\r\n" + String(repeating: "X: y\r\n", count: 100) + "\r\n",
    content: ""),
  .accepted(
    "9112-6.1 coding case",
    "POST /c HTTP/1.1\r\nHost: a\r\nTRANSFER-ENCODING: \t Chunked \r\n\r\n0\r\n\r\n", "POST /c"),
  .accepted(
    "9112-6.1 with GET", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "GET / x"),
]
