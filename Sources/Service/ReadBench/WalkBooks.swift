internal import Postgres
internal import PushKinds
internal import PushStore

/// What a call was about.
struct CallSubject {
  let message: HostID
  var conversation: HostID?
  var user: HostID?

  init(message: HostID, conversation: HostID? = nil, user: HostID? = nil) {
    self.message = message
    self.conversation = conversation
    self.user = user
  }
}

/// The measurements of a walk.
struct WalkBooks {
  private var times: [MeasuredFunction: [Int64]] = [:]
  private var worst: [MeasuredFunction: (microseconds: Int64, subject: CallSubject)] = [:]
  private(set) var failures: [BenchFigures.Failure] = []
  var measured = 0
  var gone = 0
  var reads: [Int64] = []
  var recipients: [Int64] = []
  var targets: [Int64] = []

  /// Nothing but the failures, which may not come again.
  var failuresOnly: WalkBooks {
    var books = WalkBooks()
    books.failures = failures
    return books
  }

  mutating func note(_ function: MeasuredFunction, _ microseconds: Int64, _ subject: CallSubject) {
    times[function, default: []].append(microseconds)
    if worst[function].map({ $0.microseconds < microseconds }) ?? true { worst[function] = (microseconds, subject) }
  }

  /// Counts a failure; of a function the first one is told.
  /// - Parameter function: nil for the read of a message.
  mutating func noteFailure(of function: MeasuredFunction?, _ subject: CallSubject, _ error: any Error) {
    let what = function.map { "tacet.\($0.rawValue)" } ?? "the read of a message"
    if let known = failures.firstIndex(where: { $0.what == what }) {
      failures[known].count += 1
      return
    }
    failures.append(
      BenchFigures.Failure(
        what: what, cause: Self.cause(error), example: function?.explanation(of: subject) ?? subject.message.text))
  }

  private static func cause(_ error: any Error) -> String {
    guard let error = error as? PostgresError else { return "fails (\(error))" }
    return switch error.sqlState {
    case .queryCanceled?: "does not end in time"
    case .readOnlyTransaction?: "writes, which is refused here"
    default: "fails (\(error.debugDescription))"
    }
  }

  func fill(_ figures: inout BenchFigures) {
    (figures.measured, figures.gone, figures.failures) = (measured, gone, failures)
    figures.calls = MeasuredFunction.allCases.map { function in
      BenchFigures.Calls(
        function, Distribution(times[function] ?? []),
        worst: worst[function].map { function.explanation(of: $0.subject) })
    }
    figures.alone = Distribution(reads)
    (figures.recipients, figures.targets) = (Distribution(recipients), Distribution(targets))
  }
}

extension MeasuredFunction {
  fileprivate func explanation(of subject: CallSubject) -> String {
    explanation(message: subject.message, conversation: subject.conversation, user: subject.user)
  }
}
