private let get = "GET / HTTP/1.1\r\n"
private let chunked = RequestCase.chunkedHead

/// Requests that must be processed, each with the rule that says so.
let acceptedRequests: [RequestCase] = [
  .accepted("9112-3", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /"),
  .accepted("9112-2.2 an empty line before", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /"),
  .accepted("9110-9.1 any token", "BREW-X!#$%&'*+.^_`|~9 / HTTP/1.1\r\nHost: a\r\n\r\n", "BREW-X!#$%&'*+.^_`|~9 /"),
  .accepted("9110-9.1 case counts", "get / HTTP/1.1\r\nHost: a\r\n\r\n", "get /"),
  .accepted(
    "9112-3.2.1", "GET /a/b;c=1,2:@!$&'()*+~-._?x=/?:@ HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a/b;c=1,2:@!$&'()*+~-._?x=/?:@"),
  .accepted("3986-2.1", "GET /%2F%c3%A9?%20 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /%2F%c3%A9?%20"),
  .accepted("9112-3.2.1 empty query", "GET /? HTTP/1.1\r\nHost: a\r\n\r\n", "GET /?"),
  .accepted("9112-3.2.2", "GET http://b.example/x HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://b.example/x"),
  .accepted("9112-3.2.2 scheme case", "GET HTTPS://b HTTP/1.1\r\nHost: b\r\n\r\n", "GET HTTPS://b"),
  .accepted("9112-3.2.2 query", "GET http://b?q HTTP/1.1\r\nHost: b\r\n\r\n", "GET http://b?q"),
  .accepted("9112-3.2.4", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS *"),
  .accepted("9110-2.5 higher minor", "GET / HTTP/1.9\r\nHost: a\r\n\r\n", "GET /"),
  .closing("9112-9.3 1.0 closes", "GET / HTTP/1.0\r\n\r\n", "GET /"),
  .closing("9112-9.3 1.0 with Host", "GET / HTTP/1.0\r\nHost: a\r\n\r\n", "GET /"),
  .accepted("9112-9.3 1.0 keep-alive", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "GET /"),
  .closing("9112-9.3 close wins", "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", "GET /"),
  .closing("9112-9.6", get + "Host: a\r\nConnection: close\r\n\r\n", "GET /"),
  .closing("9110-7.6.1 list", get + "Host: a\r\nConnection: foo,, CLOSE ,\r\n\r\n", "GET /"),
  .accepted("9110-7.6.1 other options", get + "Host: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", "GET /"),
  .accepted("9110-5.1 name case", get + "hOsT: a\r\n\r\n", "GET /"),
  .accepted("9112-5 no blank", get + "Host:a\r\n\r\n", "GET /"),
  .accepted("9112-5 many blanks", get + "Host: \t a \t \r\n\r\n", "GET /"),
  .accepted("9112-5 empty value", get + "Host: a\r\nX-Empty:\r\n\r\n", "GET /"),
  .accepted("9110-5.5 obsolete text", get + "Host: a\r\nX: \u{e9}\r\n\r\n", "GET /"),
  .accepted("9110-5.5 inner tab", get + "Host: a\r\nX: b\tc\r\n\r\n", "GET /"),
  .accepted("9110-5.1 token name", get + "Host: a\r\n!#$%&'*+-.^_`|~09: b\r\n\r\n", "GET /"),
  .accepted("9110-5.3 repeated", get + "Host: a\r\nX: 1\r\nX: 2\r\n\r\n", "GET /"),
  .accepted("9110-7.2 port", get + "Host: a.example:65535\r\n\r\n", "GET /"),
  .accepted("3986-3.2.3 empty port", get + "Host: a:\r\n\r\n", "GET /"),
  .accepted("3986-3.2.2 literal", get + "Host: [::1]:80\r\n\r\n", "GET /"),
  .accepted("3986-3.2.2 v4 in v6", get + "Host: [::ffff:1.2.3.4]\r\n\r\n", "GET /"),
  .accepted("3986-3.2.2 encoded name", get + "Host: %61_b\r\n\r\n", "GET /"),
  .accepted("9110-8.6 zero", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "POST /"),
  .accepted("9110-8.6", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", "POST / hello"),
  .accepted("9110-8.6 leading zero", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 005\r\n\r\nhello", "POST / hello"),
  .accepted("9110-9.3.1 GET with content", get + "Host: a\r\nContent-Length: 2\r\n\r\nhi", "GET / hi"),
  .closing("9112-6.3 1.0 content", "POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi", "POST / hi"),
  .accepted("9112-6.3 no framing", "POST / HTTP/1.1\r\nHost: a\r\n\r\n", "POST /"),
  .accepted("9112-7.1", chunked + "5\r\nhello\r\n0\r\n\r\n", "POST /c hello"),
  .accepted("9112-7.1 several", chunked + "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", "POST /c hello"),
  .accepted(
    "9112-7.1 hex", chunked + "0a\r\n0123456789\r\n0A\r\nabcdefghij\r\n000\r\n\r\n", "POST /c 0123456789abcdefghij"),
  .accepted("9112-7.1 empty", chunked + "0\r\n\r\n", "POST /c"),
  .accepted("9112-7.1 data may hold line ends", chunked + "4\r\n\r\n0\r\r\n0\r\n\r\n", "POST /c \r\n0\r"),
  .accepted("9112-7.1.1", chunked + "1;a;b=c;d=\"e;\\\"\"\r\nx\r\n0;z\r\n\r\n", "POST /c x"),
  .accepted("9112-7.1.1 blanks", chunked + "1 ; a = b\r\nx\r\n0\r\n\r\n", "POST /c x"),
  .accepted("9112-7.1.2", chunked + "1\r\nx\r\n0\r\nContent-Length: 9\r\nX: y\r\n\r\n", "POST /c x"),
  .accepted(
    "9112-6.1 coding case", "POST /c HTTP/1.1\r\nHost: a\r\nTRANSFER-ENCODING:  Chunked \r\n\r\n0\r\n\r\n", "POST /c"),
  .accepted(
    "9112-9.3.2 pipeline", "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /1", "GET /2"),
  .accepted(
    "9112-9.3.2 after content", chunked + "1\r\nx\r\n0\r\n\r\n" + get + "Host: a\r\n\r\n", "POST /c x", "GET /"),
  RequestCase(
    rule: "9110-10.1.1", input: "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\nhi",
    requests: ["POST / hi"], statuses: [100, 200], staysOpen: true),
  .accepted("9110-10.1.1 no content", get + "Host: a\r\nExpect: 100-continue\r\n\r\n", "GET /"),
  .closing(
    "9110-10.1.1 ignored in 1.0", "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi", "POST / hi"),
]
