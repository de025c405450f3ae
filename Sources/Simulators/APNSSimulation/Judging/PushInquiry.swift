/// One request on its way through the checks; what has been learnt stays when a check refuses.
struct PushInquiry {
  let request: InspectedRequest
  let environment: SimulatedEnvironment
  let now: WallInstant
  var push = JudgedPush()
  var findings: [LintFinding] = []
  /// The key that vouches for the request; nil with a client certificate.
  var key: ProviderKey?
  /// The topic without its suffix.
  var bundle = ""

  init(_ request: InspectedRequest, environment: SimulatedEnvironment, now: WallInstant) {
    self.request = request
    self.environment = environment
    self.now = now
  }

  /// Only POST to `/3/device/<token>`. A missing token is no matter of the path: that answer comes after authentication.
  mutating func checkRequestLine() throws(Refusal) {
    guard request.method == "POST" else { throw .methodNotAllowed }
    if request.path == "/3/device" { return }
    let prefix = "/3/device/"
    guard request.path.hasPrefix(prefix) else { throw .badPath }
    let token = request.path.dropFirst(prefix.count)
    guard !token.contains("/") else { throw .badPath }
    push.token = String(token)
  }

  func checkRepeatedFields() throws(Refusal) {
    var seen = Set<String>()
    for field in request.fields where !seen.insert(field.name).inserted {
      throw .badRequest("DuplicateHeaders")
    }
  }

  func checkTokenPresence() throws(Refusal) {
    guard !push.token.isEmpty else { throw .badRequest("MissingDeviceToken") }
  }

  mutating func report(_ code: LintFinding.Code, _ detail: String = "") {
    findings.append(LintFinding(code, detail))
  }
}
