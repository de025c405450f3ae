/// How one attempt to hand a push to a push service ended, as every channel reports it.
package struct DeliveryAttempt: Equatable, Sendable {
  package var disposition: PushDisposition

  package var status: Int?

  /// The service's word for a refusal, `http_` and the status without one, or what the connection did. As it came: untrusted
  /// text. Nil for an accepted push.
  package var reason: String?

  /// Where the fault lies when it concerns the whole route; nil when it concerns this push or its target alone.
  package var fault: DeliveryFault?

  /// The wait that the answer asks for, already bounded; zero without one.
  package var askedWait = Duration.zero

  /// What the service called the push in its answer; nil where the request has named it, and without an answer.
  package var identifier: String?

  /// What it says about the app's other environment; only APNs has two.
  package var otherEnvironment = OtherEnvironment.unconcerned

  /// Whether a refusal proves nothing about the target, so that it is kept.
  package var sparesTarget = false

  /// Whether the push is tried again where the refusal is laid to its target.
  package var repeatsPush = false

  /// Whether the push's permit ended before it could go. Nothing was sent.
  package var isWithdrawn = false

  /// What a refusal says about another environment.
  package enum OtherEnvironment: Sendable {
    case unconcerned
    case mayKnowTarget
    case ownsCredential
  }

  /// The longest reason that the ledger keeps, in characters.
  package static let ledgerReasonMax = 64

  /// The reason for the ledger, the log and the host's table: word for word, known or not, cut where it is too long, with `?`
  /// for what is not printable ASCII. PostgreSQL's text cannot hold a zero.
  package var ledgerReason: String? {
    reason.map { reason in
      let scalars = reason.unicodeScalars.prefix(Self.ledgerReasonMax).map {
        (0x20...0x7E).contains($0.value) ? $0 : "?"
      }
      return String(String.UnicodeScalarView(scalars))
    }
  }

  package init(
    _ disposition: PushDisposition, status: Int? = nil, reason: String? = nil, fault: DeliveryFault? = nil
  ) {
    self.disposition = disposition
    self.status = status
    self.reason = reason
    self.fault = fault
  }

  package static var withdrawn: DeliveryAttempt {
    var attempt = DeliveryAttempt(.retryLater(minimumWait: .zero))
    attempt.isWithdrawn = true
    return attempt
  }

  /// The same end, laid to the target instead of the settings.
  ///
  /// Users register targets, and some are refused like a wrong setting. So only refusals of several users in a row stop the route, as
  /// those of device tokens do, and no target is dropped for one.
  package var suspectingTarget: DeliveryAttempt {
    var attempt = self
    attempt.disposition = .suspectToken
    attempt.fault = nil
    attempt.sparesTarget = true
    return attempt
  }
}

/// Where the fault lies that stops a whole route.
package enum DeliveryFault: Equatable, Sendable {
  /// Requests end without an answer, or the service asks for another connection.
  case connection
  /// The service answers that it cannot do its work.
  case service
  /// The service takes no more from this sender for a while.
  case throttle
  /// A credential or a setting is wrong: the same push gets the same answer until an operator changes something.
  case configuration
}

/// What the sender does after an answer.
///
/// Every resend keeps the identifier, the fields and the body, and none happens after the push's own expiration.
package enum PushDisposition: Equatable, Sendable {
  /// The service took the push. Whether the device shows it is between the two.
  case accepted
  /// The target is dead: stop using it, unless the app registered it again after `invalidSinceMilliseconds` (since 1970;
  /// nil when the service did not say, then the time of sending counts). Never resend this push.
  case dropToken(invalidSinceMilliseconds: Int64?)
  /// The service refuses the target without proving it dead. A wrong environment, topic or key brings the same answer for
  /// every target, so set targets aside only while other pushes of the same route succeed. Never resend this push.
  case suspectToken
  /// Never resend this push; nothing else is wrong.
  case never
  /// The request itself is wrong, by a bug here or in the caller: set it aside and tell an engineer. Resend only after a
  /// change.
  case fixRequest
  /// A credential or a setting is wrong, so the service would refuse every push of this route: stop them all, tell an
  /// operator, go on after a change.
  case fixCredentials
  /// Make a new provider token, once, and resend.
  case refreshProviderToken
  /// Open a new connection, with a fresh look-up of the host's address, and resend.
  case reconnect
  /// Resend after at least this long, and longer from attempt to attempt.
  case retryLater(minimumWait: Duration)
}

extension PushDisposition {
  /// The shortest wait after a fault inside APNs, and the longest wait that doubling brings anywhere. Source: "Handling
  /// notification responses from APNs" (Apple): a push answered with a 5xx status may be sent again after 15 minutes.
  package static let serviceFaultWait = Duration.seconds(15 * 60)

  /// The shortest wait after 429 that names none. Apple asks for "a delay" without a number, Google for a minute; one minute,
  /// doubling, is the usual practice.
  package static let tooManyWait = Duration.seconds(60)
}
