internal import CLibpq
public import Reactors

extension PostgresConnection: ReadinessHandler {
  /// The session's socket is ready.
  public func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    if readiness.shouldRead { receive(on: reactor) }
    // Also after a read: libpq may have answered something itself (`PQflush` in the manual, section 34.4).
    if isWatchingWrites { flush(on: reactor) }
  }

  private func receive(on reactor: isolated Reactor) {
    guard let handle else { return }
    // A TLS record of 16 KiB may be read in two halves, and the second then waits in OpenSSL, where no poll sees it.
    let isConsumed = PQconsumeInput(handle) == 1 && (PQsslInUse(handle) == 0 || PQconsumeInput(handle) == 1)
    takeResults(on: reactor)
    takeNotifications(on: reactor)
    if let handle = self.handle, !isConsumed || PQstatus(handle) == CONNECTION_BAD {
      lose(PostgresError(.connectionLost, of: handle), on: reactor)
    }
  }

  private func takeNotifications(on reactor: isolated Reactor) {
    while let handle, let notify = PQnotifies(handle) {
      let notification = PostgresNotification(
        channel: String(cString: notify.pointee.relname), payload: String(cString: notify.pointee.extra),
        processID: notify.pointee.be_pid)
      PQfreemem(notify)
      observer?.notificationArrived(notification, on: reactor)
    }
  }
}

// Writing.
extension PostgresConnection: TickEndHandler {
  /// What this tick's statements left in libpq's buffer goes out in one write.
  public func tickEnded(on reactor: isolated Reactor) {
    hasAskedForTickEnd = false
    flush(on: reactor)
  }

  func flushAtTickEnd(on reactor: isolated Reactor) {
    guard !hasAskedForTickEnd else { return }
    hasAskedForTickEnd = true
    reactor.callAtTickEnd(self)
  }

  /// Writes what the socket takes, and watches for room when it does not take all.
  private func flush(on reactor: isolated Reactor) {
    guard let handle, let registration else { return }
    let outcome = PQflush(handle)
    guard outcome >= 0 else { return lose(PostgresError(.connectionLost, of: handle), on: reactor) }
    guard isWatchingWrites != (outcome == 1) else { return }
    isWatchingWrites = outcome == 1
    do throws(SystemError) {
      try reactor.update(registration, to: isWatchingWrites ? [.read, .write] : .read)
    } catch {
      lose(PostgresError(.connectionLost, error.description), on: reactor)
    }
  }
}

/// A message that another session sent with NOTIFY.
public struct PostgresNotification: Sendable, Equatable {
  /// The channel it was sent on.
  public let channel: String

  /// The text sent along, at most 7999 bytes; empty when none was given.
  public let payload: String

  /// The sending session's server process.
  public let processID: Int32
}
