import Testing

@testable import HTTP2

@Suite("Settings of a session")
struct SessionSettingsTests {
  @Test("a disguised limit of streams leaves under its right number, in its place")
  func disguise() throws {
    let session = Session.server(limits: Session.Limits(fieldsBytesMax: 1000, bodyBytesMax: 1000))
    session.submit([.streamWindow(70_000), .streamsMax(1), .fieldsBytesMax(8000)], disguisingStreamsMax: true)
    let frame = try #require(session.nextChunk().map(Array.init))
    #expect(frame == [0, 0, 18, 4, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0x11, 0x70, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0x1f, 0x40])
    #expect(session.nextChunk() == nil)
  }

  @Test("without a disguise nothing is changed")
  func plain() throws {
    let session = Session.server(limits: Session.Limits(fieldsBytesMax: 1000, bodyBytesMax: 1000))
    session.submit([.streamsMax(7)])
    #expect(try #require(session.nextChunk().map(Array.init)) == [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 7])
  }
}
