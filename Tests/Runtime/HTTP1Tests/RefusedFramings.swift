@testable import HTTP1

/// Framings that must be refused, each with the rule that says so.
let refusedFramings: [RequestCase] = [
  .refused(
    "9112-6.3 differing lengths", 400, .repeatedLength, fields: "Host: a\r\nContent-Length: 1\r\nContent-Length: 2",
    after: "xy"
  ),
  .refused(
    "9112-6.3 equal lengths", 400, .repeatedLength, fields: "Host: a\r\nContent-Length: 1\r\nContent-Length: 1",
    after: "x"),
  .refused("9110-8.6 list", 400, .malformedLength, fields: "Host: a\r\nContent-Length: 1, 1", after: "x"),
  .refused("9110-8.6 sign", 400, .malformedLength, fields: "Host: a\r\nContent-Length: +1", after: "x"),
  .refused("9110-8.6 negative", 400, .malformedLength, fields: "Host: a\r\nContent-Length: -1"),
  .refused("9110-8.6 hex", 400, .malformedLength, fields: "Host: a\r\nContent-Length: 0x1", after: "x"),
  .refused("9110-8.6 blank inside", 400, .malformedLength, fields: "Host: a\r\nContent-Length: 1 0"),
  .refused("9110-8.6 empty", 400, .malformedLength, fields: "Host: a\r\nContent-Length:"),
  .refused("9110-8.6 overflow", 400, .malformedLength, fields: "Host: a\r\nContent-Length: 99999999999999999999"),
  .refused(
    "9110-8.6 wraps to 5", 400, .malformedLength, fields: "Host: a\r\nContent-Length: 18446744073709551621",
    after: "hello"),
  .refused(
    "9112-6.1 length and coding", 400, .lengthAndCoding,
    fields: "Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked",
    after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 coding and length", 400, .lengthAndCoding,
    fields: "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5",
    after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 twice in lines", 400, .repeatedCoding,
    fields: "Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 twice in list", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: chunked, chunked",
    after: "0\r\n\r\n"
  ),
  .refused("9112-6.3 chunked not last", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: chunked, gzip"),
  .refused("9112-6.3 not chunked", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: gzip"),
  .refused("9112-6.3 identity", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: identity"),
  .refused("9112-6.1 unknown", 501, .unknownCoding, fields: "Host: a\r\nTransfer-Encoding: gzip, chunked"),
  .refused("9112-7 parameters", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: chunked;q=1"),
  .refused("9112-6.1 empty", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding:"),
  .refused("9112-6.1 near miss", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: xchunked"),
  .refused("9112-6.1 quoted", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: \"chunked\""),
  .refused(
    "9112-6.1 in 1.0", 400, .codingInOldVersion,
    "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
  .refused(
    "9112-6.3 lengths in other case", 400, .repeatedLength, fields: "Host: a\r\nContent-Length: 1\r\ncontent-length: 2",
    after: "xy"),
  .refused(
    "9112-6.3 second length empty", 400, .repeatedLength, fields: "Host: a\r\nContent-Length: 1\r\nContent-Length:",
    after: "x"),
  .refused(
    "9112-6.3 equal lengths of zero", 400, .repeatedLength, fields: "Host: a\r\nContent-Length: 0\r\nContent-Length: 0"),
  .refused("9110-8.6 differing list", 400, .malformedLength, fields: "Host: a\r\nContent-Length: 1, 2", after: "xy"),
  .refused("9110-8.6 list without blank", 400, .malformedLength, fields: "Host: a\r\nContent-Length: 1,1", after: "x"),
  .refused("9110-8.6 empty list element", 400, .malformedLength, fields: "Host: a\r\nContent-Length: ,1", after: "x"),
  .refused("9110-8.6 final comma", 400, .malformedLength, fields: "Host: a\r\nContent-Length: 1,", after: "x"),
  .refused("9110-8.6 fraction", 400, .malformedLength, fields: "Host: a\r\nContent-Length: 1.0", after: "x"),
  .refused("9110-8.6 exponent", 400, .malformedLength, fields: "Host: a\r\nContent-Length: 1e0", after: "x"),
  .refused("9110-8.6 quoted", 400, .malformedLength, fields: "Host: a\r\nContent-Length: \"1\"", after: "x"),
  .refused("9110-8.6 semicolon", 400, .malformedLength, fields: "Host: a\r\nContent-Length: 1;", after: "x"),
  .refused("9110-8.6 hex digits", 400, .malformedLength, fields: "Host: a\r\nContent-Length: a"),
  .refused(
    "9110-8.6 digits not ASCII", 400, .malformedLength, fields: "Host: a\r\nContent-Length: \u{661}", after: "x"),
  .refused("9110-8.6 separators", 400, .malformedLength, fields: "Host: a\r\nContent-Length: 1_0"),
  .refused("9110-8.6 minus zero", 400, .malformedLength, fields: "Host: a\r\nContent-Length: -0"),
  .refused(
    "9110-8.6 one over the largest number", 400, .malformedLength,
    fields: "Host: a\r\nContent-Length: 9223372036854775808"),
  .refused(
    "9112-6.1 zero length and coding", 400, .lengthAndCoding,
    fields: "Host: a\r\nContent-Length: 0\r\nTransfer-Encoding: chunked", after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 bad length and coding", 400, .malformedLength,
    fields: "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: x", after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 length and unknown coding", 400, .malformedCoding,
    fields: "Host: a\r\nContent-Length: 1\r\nTransfer-Encoding: gzip", after: "x"),
  .refused(
    "9112-6.1 twice in other case", 400, .repeatedCoding,
    fields: "Host: a\r\nTransfer-Encoding: chunked\r\nTRANSFER-encoding: CHUNKED", after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 second line empty", 400, .repeatedCoding,
    fields: "Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding:",
    after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 two lines", 400, .malformedCoding,
    fields: "Host: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
    after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 second line identity", 400, .repeatedCoding,
    fields: "Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity", after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 empty element before", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: ,chunked",
    after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 empty element after", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: chunked,",
    after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 two unknown", 501, .unknownCoding, fields: "Host: a\r\nTransfer-Encoding: deflate, gzip, chunked",
    after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 identity and chunked", 501, .unknownCoding, fields: "Host: a\r\nTransfer-Encoding: identity, chunked",
    after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 blank inside", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: chun ked", after: "0\r\n\r\n"
  ),
  .refused(
    "9112-6.1 two words", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: gzip chunked",
    after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 vertical tab before", 400, .controlCharacter, fields: "Host: a\r\nTransfer-Encoding: \u{b}chunked",
    after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 no-break space before", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: \u{a0}chunked",
    after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 the sign for kelvin", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: chun\u{212a}ed",
    after: "0\r\n\r\n"),
  .refused(
    "9112-7 empty parameter", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding: chunked;",
    after: "0\r\n\r\n"),
  .refused(
    "9112-6.1 with keep-alive in 1.0", 400, .codingInOldVersion,
    "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
]
