/// Whose certificates a client believes.
public enum TLSTrust: Sendable {
  /// The system's certificate authorities.
  case system
  /// The system's, and the certificates given here.
  case systemAnd(PEM)
}
