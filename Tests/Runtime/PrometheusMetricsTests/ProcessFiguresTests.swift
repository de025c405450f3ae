import Testing

@testable import PrometheusMetrics

@Suite("Figures of the process")
struct ProcessFiguresTests {
  private static let stat = """
    4711 (a (b) c) S 1 4711 4711 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 7 0 12345 1048576 32 18446744073709551615
    """
  private static let limits = """
    Limit                     Soft Limit           Hard Limit           Units
    Max cpu time              unlimited            unlimited            seconds
    Max open files            1024                 524288               files
    """

  private func figures(
    stat: String = stat, limits: String = limits, systemStat: String = "cpu 1 2 3\nbtime 1700000000\nprocesses 5\n"
  ) -> ProcessFigures {
    ProcessFigures(stat: stat, limits: limits, systemStat: systemStat, ticksPerSecond: 100, pageBytes: 4096)
  }

  @Test("the kernel's texts are read, whatever the program is called")
  func whole() {
    var expected = ProcessFigures()
    expected.residentBytes = 32 * 4096
    expected.virtualBytes = 1_048_576
    expected.cpuSeconds = 3
    expected.startSeconds = 1_700_000_123.45
    expected.threads = 7
    expected.descriptorsMax = 1024
    #expect(figures() == expected)
  }

  @Test("what cannot be read is left out")
  func partial() {
    #expect(figures(limits: "Max open files unlimited unlimited files").descriptorsMax == nil)
    #expect(figures(limits: "").descriptorsMax == nil)
    #expect(figures(systemStat: "").startSeconds == nil)
    #expect(figures(stat: "").families.map(\.name) == ["process_max_fds"])
  }

  @Test("a text that is cut anywhere is no error")
  func cut() {
    for end in Self.stat.indices { _ = figures(stat: String(Self.stat[..<end])) }
    for end in Self.limits.indices { _ = figures(limits: String(Self.limits[..<end])) }
  }

  @Test("this process has every figure, and they are possible")
  func current() throws {
    let figures = ProcessFigures.current()
    #expect(figures.families.count == 7)
    #expect(try #require(figures.residentBytes) > 1 << 20)
    #expect(try #require(figures.threads) >= 1)
    #expect(try #require(figures.descriptors) >= 3)
    #expect(try #require(figures.startSeconds) > 1_600_000_000)
  }
}
