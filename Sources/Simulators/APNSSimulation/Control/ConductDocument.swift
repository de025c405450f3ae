internal import HTTP1
internal import SimulationControl

/// The conduct of the server. Absent members stay unchanged.
struct ConductDocument: ControlDocument, Encodable {
  var delayMilliseconds: Int?
  /// 0 removes the limit.
  var idleMilliseconds: Int?
  /// 0 pushes remove the limit.
  var tokenRate: TokenRate?
  /// 0 connections remove the limit.
  var churn: ChurnLimit?
  var allowsUpdates: Bool?
  /// 0 removes the limit.
  var activityBudget: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case delayMilliseconds = "delay_ms"
    case idleMilliseconds = "idle_ms"
    case tokenRate = "token_rate"
    case churn
    case allowsUpdates = "allows_updates"
    case activityBudget = "activity_budget"
  }

  init(_ conduct: ServerConduct, _ tokenRate: TokenRate?) {
    delayMilliseconds = conduct.delayMilliseconds
    idleMilliseconds = conduct.idleMilliseconds
    self.tokenRate = tokenRate
    churn = conduct.churn
    allowsUpdates = conduct.allowsActivityUpdates
    activityBudget = conduct.activityBudget
  }

  /// - Throws: `ProblemDetails` for a number out of range.
  func check() throws(ProblemDetails) {
    try ControlLimits.check("delay_ms", delayMilliseconds)
    try ControlLimits.check("idle_ms", idleMilliseconds)
    try ControlLimits.check("token_rate.pushes", tokenRate?.pushes, to: ControlLimits.countMax)
    try ControlLimits.check("token_rate.seconds", tokenRate?.seconds, from: 1, to: ControlLimits.secondsMax)
    try ControlLimits.check("activity_budget", activityBudget, to: ControlLimits.countMax)
    try ControlLimits.check("churn.connections", churn?.connections, to: ControlLimits.countMax)
    try ControlLimits.check("churn.seconds", churn?.seconds, from: 1, to: ControlLimits.secondsMax)
    try ControlLimits.check("churn.refused_ms", churn?.refusedMilliseconds, from: 1)
  }

  func change(_ conduct: inout ServerConduct) {
    if let delayMilliseconds { conduct.delayMilliseconds = delayMilliseconds }
    if let idleMilliseconds { conduct.idleMilliseconds = idleMilliseconds == 0 ? nil : idleMilliseconds }
    if let allowsUpdates { conduct.allowsActivityUpdates = allowsUpdates }
    if let activityBudget { conduct.activityBudget = activityBudget == 0 ? nil : activityBudget }
    if let churn { conduct.churn = churn.connections == 0 ? nil : churn }
  }

  func change(_ registry: inout SimulationRegistry) {
    if let tokenRate { registry.tokenRate = tokenRate.pushes == 0 ? nil : tokenRate }
  }
}

struct ClockDocument: ControlDocument {
  /// Negative moves it back.
  var advanceMilliseconds: Int64

  /// - Throws: `ProblemDetails` when that is more than a century.
  func check() throws(ProblemDetails) {
    guard advanceMilliseconds.magnitude <= ControlLimits.clockMillisecondsMax.magnitude else {
      throw ProblemDetails.unfit("advance_ms moves the clock by a century at most")
    }
  }

  enum CodingKeys: String, CodingKey, CaseIterable {
    case advanceMilliseconds = "advance_ms"
  }
}
