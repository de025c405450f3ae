@testable import HTTP1

private let get = "GET / HTTP/1.1\r\n"
private let long = String(repeating: "x", count: 9000)

/// Field lines that must be refused, each with the rule that says so.
let refusedFields: [RequestCase] = [
  .refused("9112-5 no colon", 400, .malformedField, fields: "Host: a\r\nX"),
  .refused("9112-5 no name", 400, .malformedField, fields: "Host: a\r\n: b"),
  .refused("9112-5.1 blank before colon", 400, .malformedField, fields: "Host: a\r\nX : b"),
  .refused("9112-5.1 blank in Host", 400, .malformedField, fields: "Host : a"),
  .refused("9112-5.1 tab before colon", 400, .malformedField, fields: "Host: a\r\nX\t: b"),
  .refused("9112-5.2 folding", 400, .foldedField, fields: "Host: a\r\nX: b\r\n c"),
  .refused("9112-5.2 folding by tab", 400, .foldedField, fields: "Host: a\r\nX: b\r\n\tc: d"),
  .refused("9112-5.2 blank line", 400, .foldedField, fields: "Host: a\r\n "),
  .refused("9110-5.1 bad name", 400, .malformedField, fields: "Host: a\r\nX(y): b"),
  .refused("9110-5.1 name not ASCII", 400, .malformedField, fields: "Host: a\r\nX\u{e9}: b"),
  .refused("9110-5.5 NUL", 400, .controlCharacter, fields: "Host: a\r\nX: b\0c"),
  .refused("9110-5.5 escape", 400, .controlCharacter, fields: "Host: a\r\nX: \u{1b}[1m"),
  .refused("9110-5.5 delete", 400, .controlCharacter, fields: "Host: a\r\nX: \u{7f}"),
  .refused("9110-7.6.1 bad option", 400, .malformedConnection, fields: "Host: a\r\nConnection: cl ose"),
  .refused("9110-10.1.1 other expectation", 417, .unknownExpectation, fields: "Host: a\r\nExpect: magic"),
  .refused("9110-10.1.1 empty expectation", 417, .unknownExpectation, fields: "Host: a\r\nExpect:"),
  .refused("6585-5 one field", 431, .fieldsTooLarge, fields: "Host: a\r\nX: \(long)\(long)"),
  .refused("6585-5 one field, no end", 431, .fieldsTooLarge, get + "X: \(long)\(long)"),
  .refused("6585-5 together", 431, .fieldsTooLarge, fields: "Host: a\r\nX: \(long)\r\nY: \(long)"),
  .refused("6585-5 number", 431, .tooManyFields, fields: "Host: a" + String(repeating: "\r\nX: y", count: 100)),
  .refused("9112-5 colon only", 400, .malformedField, fields: "Host: a\r\n:"),
  .refused("9112-5 request line again", 400, .malformedField, fields: "Host: a\r\nGET / HTTP/1.1"),
  .refused("9112-5.1 blank before the first name", 400, .foldedField, fields: " Host: a"),
  .refused("9112-5.1 no-break space before colon", 400, .malformedField, fields: "Host: a\r\nX\u{a0}: b"),
  .refused("9112-5.1 blank in length", 400, .malformedField, fields: "Host: a\r\nContent-Length : 1", after: "x"),
  .refused(
    "9112-5.1 blank in coding", 400, .malformedField, fields: "Host: a\r\nTransfer-Encoding : chunked",
    after: "0\r\n\r\n"),
  .refused("9112-5.2 folded length", 400, .malformedLength, fields: "Host: a\r\nContent-Length:\r\n 1", after: "x"),
  .refused(
    "9112-5.2 folded coding", 400, .malformedCoding, fields: "Host: a\r\nTransfer-Encoding:\r\n chunked",
    after: "0\r\n\r\n"),
  .refused("9112-5.2 folded Host", 400, .malformedHost, fields: "Host:\r\n a"),
  .refused("9112-5.2 tab line", 400, .foldedField, fields: "Host: a\r\n\t"),
  .refused("9110-5.1 slash", 400, .malformedField, fields: "Host: a\r\nX/Y: b"),
  .refused("9110-5.1 quotes", 400, .malformedField, fields: "Host: a\r\n\"X\": b"),
  .refused("9110-5.1 brackets", 400, .malformedField, fields: "Host: a\r\nX[0]: b"),
  .refused("9110-5.1 NUL in name", 400, .controlCharacter, fields: "Host: a\r\nX\0: b"),
  .refused("9110-5.5 NUL in Host", 400, .controlCharacter, fields: "Host: a\0b"),
  .refused("9110-5.5 vertical tab", 400, .controlCharacter, fields: "Host: a\r\nX: b\u{b}c"),
  .refused("9110-5.5 form feed", 400, .controlCharacter, fields: "Host: a\r\nX: b\u{c}c"),
  .refused("9110-5.5 bell last", 400, .controlCharacter, fields: "Host: a\r\nX: b\u{7}"),
  .refused("9110-7.6.1 quoted option", 400, .malformedConnection, fields: "Host: a\r\nConnection: \"close\""),
  .refused("9110-7.6.1 semicolon", 400, .malformedConnection, fields: "Host: a\r\nConnection: close;x"),
  .refused("9110-10.1.1 list", 417, .unknownExpectation, fields: "Host: a\r\nExpect: 100-continue, magic"),
  .refused("9110-10.1.1 parameter", 417, .unknownExpectation, fields: "Host: a\r\nExpect: 100-continue;x"),
  .refused(
    "9110-10.1.1 second field", 417, .unknownExpectation, fields: "Host: a\r\nExpect: 100-continue\r\nExpect: 200-ok"),
  .refused("9110-10.1.1 other expectation in 1.0", 417, .unknownExpectation, "GET / HTTP/1.0\r\nExpect: magic\r\n\r\n"),
]
