/// What runs start from: the corpus and the cases of the tables that fit in one segment.
var fuzzSeeds: [[UInt8]] {
  fuzzCorpus.map { Array($0.utf8) } + allCases.map { Array($0.input.utf8) }.filter { $0.count < 2000 }
}

/// Inputs that have found something, here or elsewhere, or that come close to doing so.
let fuzzCorpus: [String] = [
  // The answer to a refused request must not inherit from a HEAD before it that it goes without content.
  "HEAD / HTTP/1.1\r\nHost: a\r\n\r\nX\r\n",
  "HEAD / HTTP/1.1\r\nHost: a\r\n\r\nHEAD / HTTP/1.1\r\nHost : a\r\n\r\n",
  // A line too many at the end of the connection is no request.
  "GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n",
  // A length that another reader takes for another.
  "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\nGET /",
  "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nTransfer-Encoding: ,chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
  // A chunk line whose end another reader sees elsewhere.
  "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;\nxx\r\n4c\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
  "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;a=\"\r\n\"\r\nx\r\n0\r\n\r\n",
  "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxx\n0\r\n\r\n",
  // A size below zero ended the process of the fuzzer itself.
  "GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n",
  // Content that is thrown away and looks like a request.
  "POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 27\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
  // Exactly at the limits of the fuzzed connection, and one byte beyond.
  "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 64\r\n\r\n" + String(repeating: "x", count: 64),
  "POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 48\r\n\r\n" + String(repeating: "x", count: 48),
  "POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 49\r\n\r\n" + String(repeating: "x", count: 49),
  "GET /" + String(repeating: "x", count: 82) + " HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET /" + String(repeating: "x", count: 83) + " HTTP/1.1\r\nHost: a\r\n\r\n",
]
