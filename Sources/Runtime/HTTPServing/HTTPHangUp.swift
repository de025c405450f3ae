/// Thrown by a handler to close the connection without an answer, as a server that dies does; nginx has the status 444 for
/// it. Answers to earlier requests of a pipeline that have not been written yet are lost too.
public struct HTTPHangUp: Error, Sendable {
  /// Nothing is said.
  public init() {}
}
