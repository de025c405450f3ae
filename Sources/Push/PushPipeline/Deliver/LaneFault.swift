/// Why a lane as a whole takes no pushes, or may not.
struct LaneFault: Equatable, Sendable {
  /// Where the fault lies.
  enum Cause: Sendable {
    /// Requests end without an answer, or APNs sends us to another connection.
    case connection
    /// APNs answers that it cannot do its work.
    case service
    /// APNs takes no more on this connection because its provider tokens changed too often.
    case throttle
    /// A credential or a setting is wrong: the same push meets the same answer until somebody changes something.
    case configuration

    /// Whether it is over once anything else is answered; only an accepted push shows that a setting is right.
    var endsWithAnyAnswer: Bool { self != .configuration }
  }

  let cause: Cause

  /// APNs' word for it, or what the connection did, as the ledger keeps it.
  let reason: String?

  /// How long the answer asks to be left alone.
  var askedWait = Duration.zero
}
