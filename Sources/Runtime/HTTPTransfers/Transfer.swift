internal import Reactors

/// One request on its way through the client.
final class Transfer {
  enum Stage {
    /// For its turn.
    case waiting
    /// The host's name is looked up.
    case resolving
    case running(EasyHandle)
    case ended(Result<HTTPTransferResponse, HTTPTransferError>)
  }

  let request: HTTPTransferRequest
  let target: TransferTarget
  var stage = Stage.waiting

  /// Given once, at the end.
  let end = Signal()

  init(_ request: HTTPTransferRequest) throws(HTTPTransferError) {
    self.request = request
    target = try TransferTarget(request.url)
  }

  var isResolving: Bool {
    if case .resolving = stage { true } else { false }
  }

  func isRunning(_ easy: EasyHandle) -> Bool {
    if case .running(let own) = stage { own === easy } else { false }
  }
}
