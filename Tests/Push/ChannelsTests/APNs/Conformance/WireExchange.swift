import APNSSimulation
import Foundation
import HTTP2
import PushRules
import TestAPNSCases

/// A request, what came back over the wire, and what the service recorded.
struct WireExchange {
  let request: InspectedRequest
  let response: HTTP2Response
  let record: PushRecord

  /// The answer as our client reads it.
  var answer: PushAnswer {
    PushAnswer(status: response.status, identifier: response.fields["apns-id"], body: response.body)
  }

  func check(against expected: CaseFile.Mapping, _ findings: Findings) throws {
    let key = AnswerKey(expected)
    findings.expect(response.status == key.status, "status \(response.status)")
    let body = String(decoding: response.body, as: UTF8.self)
    findings.expect(body == Self.body(expected), "body \(body)")
    checkFields(expected, findings)
    checkIdentifier(expected, findings)
    if let priority = expected["effective_priority"] as? Int {
      findings.expect(record.priority == priority, "priority \(record.priority)")
    }
    if let isStored = expected["stored"] as? Bool {
      findings.expect(record.isStored == isStored, "stored \(record.isStored)")
    }
    findings.expect(record.status == key.status && record.reason == key.reason, "recorded as \(record)")
  }

  /// Nothing with a success, JSON with a reason, a proxy's text as it is.
  private static func body(_ expected: CaseFile.Mapping) -> String {
    if let raw = expected["raw_body"] as? String { return raw }
    guard let reason = expected["reason"] as? String else { return "" }
    let timestamp = (expected["timestamp_ms"] as? Int).map { ",\"timestamp\":\($0)" } ?? ""
    return "{\"reason\":\"\(reason)\"\(timestamp)}"
  }

  private func checkFields(_ expected: CaseFile.Mapping, _ findings: Findings) {
    for name in expected["headers_present"] as? [String] ?? [] {
      findings.expect(response.fields[name] != nil, "no \(name)")
    }
    for name in expected["headers_absent"] as? [String] ?? [] {
      findings.expect(response.fields[name] == nil, "\(name) \(response.fields[name] ?? "")")
    }
    let type = response.fields["content-type"]
    let isJSON = expected["reason"] != nil
    findings.expect(!isJSON || type == "application/json", "content-type \(type ?? "none")")
  }

  private func checkIdentifier(_ expected: CaseFile.Mapping, _ findings: Findings) {
    let identifier = response.fields["apns-id"] ?? ""
    let sent = request.fields.first { $0.name == "apns-id" }?.value
    findings.expect(UUID(uuidString: identifier) != nil, "apns-id \(identifier)")
    switch expected["apns_id"] as? String {
    case "generated":
      findings.expect(identifier != sent && identifier == identifier.uppercased(), "apns-id \(identifier)")
    case "echo": findings.expect(identifier == sent, "apns-id \(identifier)")
    default: break
    }
  }
}

extension HTTP2Request {
  /// Spaces at either end of a value cannot travel over HTTP/2 (RFC 9113 §8.2.1); a client drops them.
  init(_ request: InspectedRequest) {
    var fields = HTTP2Fields()
    for field in request.fields { fields.append(field.name, field.value.trimmingCharacters(in: .whitespaces)) }
    self.init(method: request.method, path: request.path, fields: fields, body: request.body)
  }
}
