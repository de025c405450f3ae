import HTTP1
import Testing

@testable import Simulators

@Suite("Faults as scripts order them")
struct FaultDocumentTests {
  @Test(
    "each kind becomes what it says, with the defaults that are documented",
    arguments: [
      (#"{"kind":"goaway"}"#, ServerFault.goAway(lastStream: .current, code: 0, debug: #"{"reason":"Shutdown"}"#)),
      (#"{"kind":"goaway","last_stream":"all"}"#, .goAway(lastStream: .all, code: 0, debug: "")),
      (
        #"{"kind":"goaway","last_stream":7,"code":7,"debug":"x"}"#,
        .goAway(lastStream: .stream(7), code: 7, debug: "x")
      ),
      (#"{"kind":"goaway","last_stream":"7","debug":""}"#, .goAway(lastStream: .stream(7), code: 0, debug: "")),
      (#"{"kind":"drop_before"}"#, .dropBeforeProcessing), (#"{"kind":"drop_after"}"#, .dropAfterProcessing),
      (#"{"kind":"black_hole"}"#, .blackHole), (#"{"kind":"silence"}"#, .silence),
      (#"{"kind":"ignore_pings"}"#, .ignorePings), (#"{"kind":"refuse_stream"}"#, .refuseStream),
      (#"{"kind":"reset_stream"}"#, .resetStream(code: 2)), (#"{"kind":"streams","streams":0}"#, .announceStreams(0)),
      (#"{"kind":"delay","delay_ms":5}"#, .delay(milliseconds: 5)),
      (
        #"{"kind":"answer","status":503,"reason":"Shutdown"}"#, .answer(ScriptedAnswer(status: 503, reason: "Shutdown"))
      ),
    ])
  func kinds(_ text: String, _ fault: ServerFault) throws {
    let order = try APNSFaultDocument.read(Array(text.utf8)).order()
    #expect(order == .script(.init(fault)))
    let shown = APNSFaultDocument(FaultScript.Entry(fault))
    #expect(try shown.order() == order)
  }

  @Test(
    "orders that need no request",
    arguments: [
      (#"{"kind":"silence","now":true}"#, FaultOrder.strike(.silence)),
      (#"{"kind":"streams","streams":3,"now":true}"#, .strike(.announceStreams(3))),
      (#"{"kind":"refuse_connections"}"#, .refuseNext(1)),
      (#"{"kind":"refuse_connections","times":4}"#, .refuseNext(4)),
      (#"{"kind":"refuse_connections","for_ms":250}"#, .refuseFor(milliseconds: 250)),
    ])
  func withoutRequest(_ text: String, _ order: FaultOrder) throws {
    #expect(try APNSFaultDocument.read(Array(text.utf8)).order() == order)
  }

  @Test(
    "what does not go together is named",
    arguments: [
      (#"{"kind":"delay"}"#, "delay_ms is missing"), (#"{"kind":"answer"}"#, "status is missing"),
      (#"{"kind":"answer","status":199}"#, "status is a number from 200 to 599"),
      (#"{"kind":"streams"}"#, "streams is missing"),
      (#"{"kind":"silence","skip":-1}"#, "skip is a number from 0"),
      (#"{"kind":"silence","after_ms":86400001}"#, "after_ms is a number from 0 to 86400000"),
      (#"{"kind":"silence","status":500}"#, "status means nothing to silence"),
      (#"{"kind":"drop_after","last_stream":"all"}"#, "last_stream means nothing to drop_after"),
      (#"{"kind":"answer","status":500,"now":true}"#, "answer needs a request; leave out now"),
      (#"{"kind":"silence","now":true,"times":2}"#, "skip and times count requests; leave out now"),
      (#"{"kind":"refuse_connections","skip":1}"#, "refuse_connections takes times or for_ms, and after_ms"),
      (#"{"kind":"goaway","for_ms":1}"#, "for_ms means nothing to goaway"),
      (#"{"kind":"goaway","code":"x"}"#, "code has the wrong type"),
      (#"{"kind":"goaway","#, "The given data was not valid JSON"),
      ("{}", "kind is missing"), (#"{"knid":"goaway"}"#, "knid is none of"),
    ])
  func refused(_ text: String, _ detail: String) {
    let error = #expect(throws: ProblemDetails.self) { try APNSFaultDocument.read(Array(text.utf8)).order() }
    #expect(error?.detail?.hasPrefix(detail) == true, "\(error?.detail ?? "")")
  }
}
