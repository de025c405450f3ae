// Members of objects. Each writes the comma before it where one is needed, so that any may be left out.
extension JSONBytes {
  /// A comma, unless what is written next is the first in its object, its array or the document.
  ///
  /// The byte before tells: no complete value ends in an opening bracket.
  package mutating func appendComma() {
    switch bytes.last {
    case nil, UInt8(ascii: "{"), UInt8(ascii: "["): break
    default: append(byte: UInt8(ascii: ","))
    }
  }

  /// The name of a member and its colon; the value follows. Names in the source need no escapes.
  package mutating func append(name: StaticString) {
    appendComma()
    append(byte: UInt8(ascii: "\""))
    append(literal: name)
    append(byte: UInt8(ascii: "\""))
    append(byte: UInt8(ascii: ":"))
  }

  /// A text; nil and an empty one are left out.
  package mutating func append(member name: StaticString, text: String?) {
    guard let text, !text.isEmpty else { return }
    append(name: name)
    append(string: text)
  }

  /// Texts in their order; an empty array is left out.
  package mutating func append(member name: StaticString, texts: [String]) {
    guard !texts.isEmpty else { return }
    append(name: name)
    append(literal: "[")
    for text in texts {
      appendComma()
      append(string: text)
    }
    append(literal: "]")
  }

  /// A whole number; nil is left out.
  package mutating func append(member name: StaticString, integer: Int64?) {
    guard let integer else { return }
    append(name: name)
    append(integer: integer)
  }

  /// A finite number; nil is left out.
  mutating func append(member name: StaticString, number: Double?) {
    guard let number else { return }
    append(name: name)
    append(number: number)
  }

  /// `1`, which is how `aps` writes true; false is left out.
  mutating func append(member name: StaticString, flag: Bool) {
    guard flag else { return }
    append(name: name)
    append(literal: "1")
  }

  package mutating func append(member name: StaticString, members: (inout JSONBytes) -> Void) {
    append(name: name)
    append(literal: "{")
    members(&self)
    append(literal: "}")
  }

  /// The members of an object, without the braces around them.
  mutating func append(membersOf object: PayloadObject) {
    for member in object.members {
      appendComma()
      append(string: member.key)
      append(byte: UInt8(ascii: ":"))
      append(value: member.value)
    }
  }

  package static func document(reservingBytes capacity: Int, members: (inout JSONBytes) -> Void) -> [UInt8] {
    var json = JSONBytes(reservingBytes: capacity)
    json.append(literal: "{")
    members(&json)
    json.append(literal: "}")
    return json.bytes
  }
}
