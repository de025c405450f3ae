internal import HTTPTransfers

extension LanguageModelError {
  /// The failure of a transfer.
  init(_ error: HTTPTransferError) {
    self.init(Code(error.code), transfer: error)
  }
}

extension LanguageModelError.Code {
  fileprivate init(_ code: HTTPTransferError.Code) {
    self =
      switch code {
      case .invalidRequest: .unusableAddress
      case .tooManyWaiting: .busy
      case .unresolved, .unreachable: .unreachable
      case .untrusted, .handshake: .untrusted
      // What nobody has foreseen may have happened after the request was sent.
      case .connectionLost, .failed: .connectionLost
      case .invalidAnswer: .unusableReply
      case .tooLarge: .replyTooLarge
      case .timedOut: .timedOut
      case .cancelled: .cancelled
      case .closed: .closed
      }
  }
}
