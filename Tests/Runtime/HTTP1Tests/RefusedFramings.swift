@testable import HTTP1

/// Framings that must be refused, each with the rule that says so.
let refusedFramings: [RequestCase] = [
  .length("9112-6.3 differing lengths", .repeatedLength, "1\r\nContent-Length: 2"),
  .length("9112-6.3 equal lengths", .repeatedLength, "1\r\nContent-Length: 1"),
  .length("9110-8.6 list", .malformedLength, "1, 1"),
  .length("9110-8.6 sign", .malformedLength, "+1"),
  .length("9110-8.6 negative", .malformedLength, "-1"),
  .length("9110-8.6 hex", .malformedLength, "0x1"),
  .length("9110-8.6 blank inside", .malformedLength, "1 0"),
  .length("9110-8.6 empty", .malformedLength, ""),
  .length("9110-8.6 overflow", .malformedLength, "99999999999999999999"),
  .length("9110-8.6 wraps to 5", .malformedLength, "18446744073709551621"),
  .length("9112-6.1 length and coding", .lengthAndCoding, "5\r\nTransfer-Encoding: chunked"),
  .coding("9112-6.1 coding and length", .lengthAndCoding, "chunked\r\nContent-Length: 5"),
  .coding("9112-6.1 twice in lines", .repeatedCoding, "chunked\r\nTransfer-Encoding: chunked"),
  .coding("9112-6.1 twice in list", .malformedCoding, "chunked, chunked"),
  .coding("9112-6.3 chunked not last", .malformedCoding, "chunked, gzip"),
  .coding("9112-6.3 not chunked", .malformedCoding, "gzip"),
  .coding("9112-6.3 identity", .malformedCoding, "identity"),
  .coding("9112-6.1 unknown", .unknownCoding, "gzip, chunked", status: 501),
  .coding("9112-7 parameters", .malformedCoding, "chunked;q=1"),
  .coding("9112-6.1 empty", .malformedCoding, ""),
  .coding("9112-6.1 near miss", .malformedCoding, "xchunked"),
  .coding("9112-6.1 quoted", .malformedCoding, "\"chunked\""),
  .refused(
    "9112-6.1 in 1.0", 400, .codingInOldVersion,
    "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
  .length("9112-6.3 lengths in other case", .repeatedLength, "1\r\ncontent-length: 2"),
  .length("9112-6.3 second length empty", .repeatedLength, "1\r\nContent-Length:"),
  .length("9112-6.3 equal lengths of zero", .repeatedLength, "0\r\nContent-Length: 0"),
  .length("9110-8.6 differing list", .malformedLength, "1, 2"),
  .length("9110-8.6 list without blank", .malformedLength, "1,1"),
  .length("9110-8.6 empty list element", .malformedLength, ",1"),
  .length("9110-8.6 final comma", .malformedLength, "1,"),
  .length("9110-8.6 fraction", .malformedLength, "1.0"),
  .length("9110-8.6 exponent", .malformedLength, "1e0"),
  .length("9110-8.6 quoted", .malformedLength, "\"1\""),
  .length("9110-8.6 semicolon", .malformedLength, "1;"),
  .length("9110-8.6 hex digits", .malformedLength, "a"),
  .length("9110-8.6 digits not ASCII", .malformedLength, "\u{661}"),
  .length("9110-8.6 separators", .malformedLength, "1_0"),
  .length("9110-8.6 minus zero", .malformedLength, "-0"),
  .length("9110-8.6 one over the largest number", .malformedLength, "9223372036854775808"),
  .length("9112-6.1 zero length and coding", .lengthAndCoding, "0\r\nTransfer-Encoding: chunked"),
  .coding("9112-6.1 bad length and coding", .malformedLength, "chunked\r\nContent-Length: x"),
  .length("9112-6.1 length and unknown coding", .malformedCoding, "1\r\nTransfer-Encoding: gzip"),
  .coding("9112-6.1 twice in other case", .repeatedCoding, "chunked\r\nTRANSFER-encoding: CHUNKED"),
  .coding("9112-6.1 second line empty", .repeatedCoding, "chunked\r\nTransfer-Encoding:"),
  .coding("9112-6.1 two lines", .malformedCoding, "gzip\r\nTransfer-Encoding: chunked"),
  .coding("9112-6.1 second line identity", .repeatedCoding, "chunked\r\nTransfer-Encoding: identity"),
  .coding("9112-6.1 empty element before", .malformedCoding, ",chunked"),
  .coding("9112-6.1 empty element after", .malformedCoding, "chunked,"),
  .coding("9112-6.1 two unknown", .unknownCoding, "deflate, gzip, chunked", status: 501),
  .coding("9112-6.1 identity and chunked", .unknownCoding, "identity, chunked", status: 501),
  .coding("9112-6.1 blank inside", .malformedCoding, "chun ked"),
  .coding("9112-6.1 two words", .malformedCoding, "gzip chunked"),
  .coding("9112-6.1 vertical tab before", .controlCharacter, "\u{b}chunked"),
  .coding("9112-6.1 no-break space before", .malformedCoding, "\u{a0}chunked"),
  .coding("9112-6.1 the sign for kelvin", .malformedCoding, "chun\u{212a}ed"),
  .coding("9112-7 empty parameter", .malformedCoding, "chunked;"),
  .refused(
    "9112-6.1 with keep-alive in 1.0", 400, .codingInOldVersion,
    "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
]

extension RequestCase {
  /// A POST with this Content-Length, or with these field lines from it on.
  fileprivate static func length(_ rule: String, _ reason: RequestRefusal, _ value: String) -> RequestCase {
    refused(rule, 400, reason, fields: "Host: a\r\nContent-Length: \(value)", after: "xy")
  }

  /// A POST with this Transfer-Encoding, or with these field lines from it on, and empty chunked content.
  fileprivate static func coding(
    _ rule: String, _ reason: RequestRefusal, _ value: String, status: Int = 400
  ) -> RequestCase {
    refused(rule, status, reason, fields: "Host: a\r\nTransfer-Encoding: \(value)", after: "0\r\n\r\n")
  }
}

private let long = String(repeating: "x", count: 9000)

/// Chunked contents that must be refused, each with the rule that says so.
let refusedChunks: [RequestCase] = [
  .refused("9112-7.1 no size", 400, .malformedChunk, chunks: "\r\nx\r\n"),
  .refused("9112-7.1 not hex", 400, .malformedChunk, chunks: "g\r\n"),
  .refused("9112-7.1 prefix", 400, .malformedChunk, chunks: "0x1\r\nx\r\n"),
  .refused("9112-7.1 sign", 400, .malformedChunk, chunks: "+1\r\nx\r\n"),
  .refused("9112-7.1 blank before", 400, .malformedChunk, chunks: " 1\r\nx\r\n"),
  .refused("9112-7.1 blank after", 400, .malformedChunk, chunks: "1 \r\nx\r\n"),
  .refused("9112-7.1 overflow", 400, .malformedChunk, chunks: "10000000000000001\r\nx\r\n"),
  .refused("9112-7.1 bare LF", 400, .bareLineBreak, chunks: "1\nx\r\n"),
  .refused("9112-7.1 data longer", 400, .malformedChunk, chunks: "1\r\nxy\r\n"),
  .refused("9112-7.1 data shorter", 400, .malformedChunk, chunks: "3\r\nx\r\n0\r\n\r\n"),
  .refused("9112-7.1 data ends with LF", 400, .bareLineBreak, chunks: "1\r\nx\n0\r\n\r\n"),
  .refused("9112-7.1.1 no name", 400, .malformedChunk, chunks: "1;\r\nx\r\n"),
  .refused("9112-7.1.1 no value", 400, .malformedChunk, chunks: "1;a=\r\nx\r\n"),
  .refused("9112-7.1.1 bad name", 400, .malformedChunk, chunks: "1;a,b\r\nx\r\n"),
  .refused("9112-7.1.1 open quote", 400, .malformedChunk, chunks: "1;a=\"b\r\nx\r\n"),
  .refused("9112-7.1.1 line end in quote", 400, .bareLineBreak, chunks: "1;a=\"\n\"\r\nx\r\n"),
  .refused("9112-7.1.1 too long", 413, .chunkLineTooLong, chunks: "1;\(long.prefix(300))\r\nx\r\n"),
  .refused("9112-7.1.2 bad trailer", 400, .malformedField, chunks: "0\r\nX : y\r\n\r\n"),
  .refused("9112-7.1.2 folded trailer", 400, .foldedField, chunks: "0\r\nX: y\r\n z\r\n\r\n"),
  .refused("9112-7.1.2 trailers too large", 431, .trailersTooLarge, chunks: "0\r\nX: \(long)\(long)\r\n\r\n"),
  .refused(
    "9112-7.1.2 too many trailers", 431, .trailersTooLarge,
    chunks: "0\r\n" + String(repeating: "X: y\r\n", count: 101) + "\r\n"),
  .refused("9110-15.5.14 one chunk", 413, .contentTooLarge, chunks: "41\r\n\(long.prefix(65))\r\n0\r\n\r\n"),
  .refused(
    "9110-15.5.14 second chunk", 413, .contentTooLarge, chunks: "40\r\n\(long.prefix(64))\r\n1\r\nx\r\n0\r\n\r\n"),
  .refused("9112-7.1 minus", 400, .malformedChunk, chunks: "-1\r\nx\r\n"),
  .refused("9112-7.1 minus zero", 400, .malformedChunk, chunks: "-0\r\n\r\n"),
  .refused("9112-7.1 tab before", 400, .malformedChunk, chunks: "\t1\r\nx\r\n"),
  .refused("9112-7.1 underscore", 400, .malformedChunk, chunks: "1_0\r\nx\r\n"),
  .refused("9112-7.1 suffix", 400, .malformedChunk, chunks: "1h\r\nx\r\n"),
  .refused("9112-7.1 comma", 400, .malformedChunk, chunks: "1,1\r\nx\r\n"),
  .refused("9112-7.1 NUL", 400, .controlCharacter, chunks: "1\0\r\nx\r\n"),
  .refused("9112-7.1 digits not ASCII", 400, .malformedChunk, chunks: "\u{661}\r\nx\r\n"),
  .refused("9112-7.1 sixteen digits", 400, .malformedChunk, chunks: "0000000000000001\r\nx\r\n"),
  .refused("9112-7.1 wraps to 1", 400, .malformedChunk, chunks: "100000000000000000001\r\nx\r\n"),
  .refused("9112-7.1 largest of its digits", 413, .contentTooLarge, chunks: "fffffffffffffff\r\nx\r\n"),
  .refused("9112-7.1 bare CR", 400, .bareLineBreak, chunks: "1\rx\r\n"),
  .refused("9112-7.1 CR CR LF", 400, .bareLineBreak, chunks: "1\r\r\nx\r\n"),
  .refused("9112-7.1 data ends with CR", 400, .bareLineBreak, chunks: "1\r\nx\r0\r\n\r\n"),
  .refused("9112-7.1 data ends with LF CR", 400, .bareLineBreak, chunks: "1\r\nx\n\r0\r\n\r\n"),
  .refused("9112-7.1 no end of data", 400, .malformedChunk, chunks: "1\r\nx0\r\n\r\n"),
  .refused("9112-7.1 two ends of data", 400, .malformedChunk, chunks: "1\r\nx\r\n\r\n0\r\n\r\n"),
  .refused("9112-7.1 bare LF at the end", 400, .bareLineBreak, chunks: "0\r\n\n"),
  .refused("9112-7.1 bare LF after the last", 400, .bareLineBreak, chunks: "0\n\r\n"),
  .refused("9112-7.1 content without chunks", 400, .malformedChunk, chunks: "hello"),
  .refused("9112-7.1.1 bare CR", 400, .bareLineBreak, chunks: "1;a\rb\r\nx\r\n"),
  .refused("9112-7.1.1 bare LF", 400, .bareLineBreak, chunks: "1;a\nb\r\nx\r\n"),
  .refused("9112-7.1.1 NUL", 400, .controlCharacter, chunks: "1;a=\0\r\nx\r\n"),
  .refused("9112-7.1.1 two semicolons", 400, .malformedChunk, chunks: "1;;a\r\nx\r\n"),
  .refused("9112-7.1.1 two values", 400, .malformedChunk, chunks: "1;a=b=c\r\nx\r\n"),
  .refused("9112-7.1.1 no semicolon", 400, .malformedChunk, chunks: "1 a=b\r\nx\r\n"),
  .refused("9112-7.1.1 after quotes", 400, .malformedChunk, chunks: "1;a=\"b\"c\r\nx\r\n"),
  .refused("9112-7.1.1 escaped end of quotes", 400, .malformedChunk, chunks: "1;a=\"b\\\"\r\nx\r\n"),
  .refused("9112-7.1.1 blank after", 400, .malformedChunk, chunks: "1;a \r\nx\r\n"),
  .refused("9112-7.1.1 of the last chunk", 400, .malformedChunk, chunks: "0;\r\n\r\n"),
  .refused("9112-7.1.1 one byte over the limit", 413, .chunkLineTooLong, chunks: "1;\(long.prefix(255))\r\nx\r\n"),
  .refused(
    "9112-7.1.1 together", 413, .chunkLineTooLong,
    chunks: String(repeating: "1;\(long.prefix(254))\r\nx\r\n", count: 65)),
  .refused("9112-7.1.2 no colon", 400, .malformedField, chunks: "0\r\nX\r\n\r\n"),
  .refused("9112-7.1.2 blank first", 400, .foldedField, chunks: "0\r\n X: y\r\n\r\n"),
  .refused("9112-7.1.2 bare LF", 400, .bareLineBreak, chunks: "0\r\nX: y\n\r\n"),
  .refused("9112-7.1.2 bare CR", 400, .bareLineBreak, chunks: "0\r\nX: y\rz\r\n\r\n"),
  .refused("9112-7.1.2 NUL", 400, .controlCharacter, chunks: "0\r\nX: \0\r\n\r\n"),
  .refused("9112-7.1.2 a request", 400, .malformedField, chunks: "0\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
]
