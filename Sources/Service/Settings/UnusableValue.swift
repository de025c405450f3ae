/// Why the text of a setting gives no value. Says nothing of the text itself, since it may be secret.
struct UnusableValue: Error, Equatable {
  /// What is wrong, as the end of a sentence that begins with the key.
  let fault: String
  /// What would be right.
  let expectation: String

  init(_ fault: String, expected expectation: String) {
    self.fault = fault
    self.expectation = expectation
  }
}
