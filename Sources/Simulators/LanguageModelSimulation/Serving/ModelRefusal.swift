/// Why a provider does not let a request in.
struct ModelRefusal: Error, Equatable {
  let status: Int
  /// The provider's word; nil for the one it usually has with the status.
  var type: String?
  /// OpenAI's second word.
  var code: String?
  /// For the developer who reads it. Shows nothing of the request but the names of its members.
  let message: String

  /// The request is none of the interface's.
  static func malformed(_ message: String) -> ModelRefusal {
    ModelRefusal(status: 400, message: message)
  }
}
