/// How a request can end without an answer; the two differ in what is known about the push.
///
/// Source: RFC 9113 §8.7 (request reliability). A resend keeps the identifier, the fields and the body in both cases.
public enum TransportFailure: Error, Equatable, Sendable {
  /// APNs certainly did nothing with it: it was never written, its stream was refused (`REFUSED_STREAM`), or a GOAWAY
  /// named a lower last stream. It can be resent at once on another connection.
  case notProcessed(cause: String)
  /// It was on its way when the connection ended, so it may have been delivered. A resend may repeat it, which the
  /// collapse identifier hides on the screen.
  case unknown(cause: String)
}
