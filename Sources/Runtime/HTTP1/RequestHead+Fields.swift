public import HTTPTypes

extension RequestHead {
  /// The field's value; the values of a repeated field joined by a comma (RFC 9110 section 5.3), of Cookie by a
  /// semicolon; `nil` without the field.
  ///
  /// Bytes that are not UTF-8 are repaired, never refused: obsolete text is allowed in values.
  public subscript(name: HTTPField.Name) -> String? {
    var joined: String?
    for line in fieldLines where isNamed(line, name) {
      let value = text(line.value)
      joined = joined.map { $0 + (name == .cookie ? "; " : ", ") + value } ?? value
    }
    return joined
  }

  /// Each value of a field, in the order of the lines.
  public func values(of name: HTTPField.Name) -> [String] {
    fieldLines.filter { isNamed($0, name) }.map { text($0.value) }
  }

  /// All fields in the ecosystem's currency type, in the order of the lines. Makes a string of each name and value.
  public var fields: HTTPFields {
    var fields = HTTPFields()
    for line in fieldLines {
      guard let name = HTTPField.Name(text(line.name)) else { continue }
      fields.append(HTTPField(name: name, value: text(line.value)))
    }
    return fields
  }

  private func isNamed(_ line: FieldLine, _ name: HTTPField.Name) -> Bool {
    let canonical = name.canonicalName.utf8
    guard line.name.count == canonical.count else { return false }
    return zip(line.name, canonical).allSatisfy { bytes[$0].lowercased == $1 }
  }
}
