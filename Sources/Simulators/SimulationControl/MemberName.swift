/// A JSON member's name, whatever it is.
package struct MemberName: CodingKey {
  package let stringValue: String
  package var intValue: Int? { nil }

  package init(_ name: String) {
    stringValue = name
  }

  package init?(stringValue: String) {
    self.stringValue = stringValue
  }

  package init?(intValue: Int) {
    return nil
  }
}
