import HTTPTypes
import Testing

@testable import HTTP1

private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

private func post(_ fields: String) -> String { "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n" }

@Suite struct SpareBuffersTests {
  @Test("a connection that waits keeps no memory and gives back a kilobyte for each way, whatever it has seen")
  func keepsNoMemory() {
    var rig = ConnectionRig(bodyBytesMax: 1024 * 1024)
    rig.feed(post("Content-Length: 500000") + String(repeating: "x", count: 500_000))
    rig.feed("GET /\(String(repeating: "p", count: 5000)) HTTP/1.1\r\nHost: a\r\n\r\n" + get + get)
    #expect(rig.transcript.statuses == [200, 200, 200, 200])
    #expect(rig.machine.input.capacity == 0)
    #expect(rig.machine.output.capacity == 0)
    #expect(rig.spare.input.capacity <= ReceiveBuffer.usualBytes)
    #expect(1...1024 ~= rig.spare.output.capacity)
  }

  @Test("connections that lend each other memory keep their bytes apart")
  func lendsMemory() {
    var rigs = [ConnectionRig(), ConnectionRig()]
    var spare = SpareBuffers()
    let texts = ["aaaa", "bbbb"].map { Array((post("Content-Length: 4") + $0 + get).utf8) }
    for position in texts[0].indices {
      for index in rigs.indices {
        swap(&rigs[index].spare, &spare)
        rigs[index].feed(texts[index][position...position])
        swap(&rigs[index].spare, &spare)
      }
    }
    #expect(rigs.map(\.transcript.requests) == [["POST / aaaa", "GET /"], ["POST / bbbb", "GET /"]])
  }

  @Test("a connection with an answer that is not sent keeps it when it gives memory back")
  func keepsUnsentBytes() {
    var rig = ConnectionRig()
    rig.machine.borrow(from: &rig.spare)
    _ = rig.machine.receive { space in
      space.copyBytes(from: get.utf8)
      return get.utf8.count
    }
    _ = rig.machine.received()
    _ = rig.machine.answered(ResponseHead(status: .ok))
    let count = rig.machine.output.count
    rig.machine.output.send { _ in 10 }
    rig.machine.giveBack(to: &rig.spare)
    #expect(rig.machine.output.count == count - 10)
    #expect(rig.spare.output.capacity == 0)
  }
}
