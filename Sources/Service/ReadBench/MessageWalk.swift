internal import Postgres
internal import PushKinds
internal import PushStore
internal import Reactors

/// Measures one message after another, with one session.
final class MessageWalk {
  /// A transaction ends after so long, and with it what it keeps others from altering.
  static let transactionLimit = Duration.milliseconds(500)

  /// The functions that are asked about users, in the order of the claim.
  private static let ofUsers: [MeasuredFunction] = [.pushTargets, .recipientPreferences, .unreadCount]

  private let session: MeasuringSession
  private let messages: [HostID]
  private(set) var books = WalkBooks()

  init(_ session: MeasuringSession, _ messages: [HostID]) {
    self.session = session
    self.messages = messages
  }

  /// Measures until all are, the time is over or the session is lost.
  func run(for limit: Duration, on reactor: isolated Reactor) async {
    let end = Reactor.now + limit.wholeNanoseconds
    // What a session does first it also plans, and a service does that once.
    await measure(messages.prefix(1), until: end, on: reactor)
    books = books.failuresOnly
    await measure(messages[...], until: end, on: reactor)
  }

  private func measure(_ messages: ArraySlice<HostID>, until end: UInt64, on reactor: isolated Reactor) async {
    var rest = messages
    while !rest.isEmpty, Reactor.now < end, session.isOpen {
      let pause = min(end, Reactor.now + Self.transactionLimit.wholeNanoseconds)
      // A failure ends the transaction, and is in the books.
      try? await session.undone(on: reactor) {
        repeat {
          books.measured += 1
          try await measure(rest.removeFirst(), on: reactor)
        } while !rest.isEmpty && Reactor.now < pause
      }
    }
  }

  private func measure(_ message: HostID, on reactor: isolated Reactor) async throws {
    var subject = CallSubject(message: message)
    let context = try await noting(.messageContext, subject) {
      try await session.messageContext(of: message, on: reactor)
    }
    books.note(.messageContext, context.microseconds, subject)
    guard let conversation = context.conversation else {
      books.gone += 1
      return
    }
    subject.conversation = conversation
    let seen = try await noting(.seenBy, subject) { try await session.seenBy(conversation, on: reactor) }
    books.note(.seenBy, seen.microseconds, subject)
    try await call(of: seen.users.filter { $0 != context.sender }, subject, conversation, on: reactor)
    try await read(message, members: seen.members, on: reactor)
  }

  private func call(
    of users: [HostID], _ subject: CallSubject, _ conversation: HostID, on reactor: isolated Reactor
  ) async throws {
    guard !users.isEmpty else { return }
    var asking: [HostID] = []
    for function in Self.ofUsers {
      let calls = try await call(function, of: users, subject, conversation, on: reactor)
      if function == .recipientPreferences { asking = calls.filter { $0.found == 1 }.map(\.user) }
    }
    guard !asking.isEmpty else { return }
    _ = try await call(.isMentioned, of: asking, subject, conversation, on: reactor)
  }

  private func call(
    _ function: MeasuredFunction, of users: [HostID], _ subject: CallSubject, _ conversation: HostID,
    on reactor: isolated Reactor
  ) async throws -> [MeasuredCall] {
    var subject = subject
    subject.user = users.first
    let calls = try await noting(function, subject) {
      try await session.calls(
        of: function, for: users, message: subject.message, conversation: conversation, on: reactor)
    }
    for call in calls {
      subject.user = call.user
      books.note(function, call.microseconds, subject)
    }
    return calls
  }

  /// - Parameter members: of a conversation that has more than one claim takes.
  private func read(_ message: HostID, members: Int, on reactor: isolated Reactor) async throws {
    let reading = try await noting(nil, CallSubject(message: message)) { try await session.read(message, on: reactor) }
    books.reads.append(reading.nanoseconds / 1000)
    let counts = try reading.counts()
    books.recipients.append(Int64(counts.recipients < ClaimLimits.recipientsMaxDefault ? counts.recipients : members))
    books.targets.append(Int64(counts.targets))
  }

  /// Notes a failure of `body`, and rethrows it.
  private func noting<Value>(
    _ function: MeasuredFunction?, _ subject: CallSubject, _ body: () async throws -> Value
  ) async throws -> Value {
    do {
      return try await body()
    } catch {
      books.noteFailure(of: function, subject, error)
      throw error
    }
  }
}
