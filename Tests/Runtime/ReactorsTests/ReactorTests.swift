import CLinux
import Glibc
import TestReactors
import Testing

@testable import Reactors

@Suite("Reactor")
struct ReactorTests {
  @Test("a task started on a reactor never leaves its thread, whatever it awaits")
  func tasksStay() async throws {
    let (before, after, threads) = try await ReactorGroup.perform { reactor in
      let before = reactor.executor.jobsFromOtherThreads
      var threads: Set<Int32> = [currentThread()]
      for _ in 0..<100 {
        await Task.yield()
        threads.insert(currentThread())
        await reactor.sleep(for: .microseconds(1))
        threads.insert(currentThread())
        await withTaskGroup(of: Void.self) { $0.addTask { await Task.yield() } }
        threads.insert(currentThread())
      }
      return (before, reactor.executor.jobsFromOtherThreads, threads)
    }
    #expect(threads.count == 1)
    #expect(after == before)
  }

  @Test("work handed from another thread is one job through the inbox")
  func submittedWorkIsCounted() async throws {
    let group = try ReactorGroup(count: 1)
    let executor = group.reactors[0].executor
    let before = executor.jobsFromOtherThreads
    for _ in 0..<50 { try await group.reactors[0].perform { _ in } }
    #expect(executor.jobsFromOtherThreads == before + 50)
    #expect(executor.wakeUps <= 50)
    await group.stop()
  }

  @Test("a started task begins when its starter suspends")
  func startOrder() async throws {
    let order = try await ReactorGroup.perform { reactor in
      let log = Log()
      let done = Signal()
      reactor.start {
        log.entries.append("inside")
        await Task.yield()
        log.entries.append("resumed")
        done.signal(on: reactor)
      }
      log.entries.append("caller")
      _ = await done.wait(on: reactor)
      return log.entries
    }
    #expect(order == ["caller", "inside", "resumed"])
  }

  @Test("an end-of-tick handler runs once after the jobs of its tick")
  func tickEnd() async throws {
    let entries = try await ReactorGroup.perform { reactor in
      let recorder = TickRecorder()
      reactor.callAtTickEnd(recorder)
      recorder.log.entries.append("job")
      _ = await recorder.signal.wait(on: reactor)
      return recorder.log.entries
    }
    #expect(entries == ["job", "tick end"])
  }

  @Test("jobs that breed jobs do not starve timers")
  func fairness() async throws {
    let fired = try await ReactorGroup.perform { reactor in
      let flag = Log()
      reactor.start { while flag.entries.isEmpty { await Task.yield() } }
      await reactor.sleep(for: .milliseconds(5))
      flag.entries.append("timer")
      return flag.entries
    }
    #expect(fired == ["timer"])
  }

  @Test("a stopped group's threads have ended")
  func stopEndsThreads() async throws {
    let group = try ReactorGroup(count: 3, name: "stopping")
    for reactor in group.reactors { try await reactor.perform { _ in } }
    #expect(threadNames().filter { $0.hasPrefix("stopping") }.count == 3)
    await group.stop()
    // The kernel lists a thread for a moment after it was joined.
    for _ in 0..<3000 where threadNames().contains(where: { $0.hasPrefix("stopping") }) { usleep(10_000) }
    #expect(threadNames().filter { $0.hasPrefix("stopping") }.isEmpty)
  }

  @Test("an idle reactor sleeps instead of spinning")
  func idleSleeps() async throws {
    let ticks = try await ReactorGroup.perform { reactor in
      let before = reactor.ticks
      await reactor.sleep(for: .milliseconds(100))
      return reactor.ticks - before
    }
    #expect(ticks < 10)
  }
}

private final class Log {
  var entries: [String] = []
}

private final class TickRecorder: TickEndHandler {
  let log = Log()
  let signal = Signal()

  func tickEnded(on reactor: isolated Reactor) {
    log.entries.append("tick end")
    signal.signal(on: reactor)
  }
}

private func currentThread() -> Int32 { clinux_thread_id() }

/// The names of this process's threads.
private func threadNames() -> [String] {
  guard let directory = opendir("/proc/self/task") else { return [] }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let id = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    if let file = fopen("/proc/self/task/\(id)/comm", "r") {
      var line = [CChar](repeating: 0, count: 32)
      if fgets(&line, 32, file) != nil {
        names.append(String(decoding: line.map(UInt8.init(bitPattern:)).prefix { $0 != 0 && $0 != 10 }, as: UTF8.self))
      }
      fclose(file)
    }
  }
  return names
}

@Suite("Signal")
struct SignalTests {
  @Test("a signal given while nobody waits ends the next wait")
  func remembered() async throws {
    try await onReactor { reactor in
      let signal = Signal()
      signal.signal(on: reactor)
      signal.signal(on: reactor)
      #expect(await signal.wait(for: .seconds(5), on: reactor))
      #expect(await signal.wait(for: .milliseconds(1), on: reactor) == false)
    }
  }

  @Test("a wait that is signalled leaves no timer behind")
  func timerIsCancelled() async throws {
    try await onReactor { reactor in
      let signal = Signal()
      reactor.start {
        await Task.yield()
        signal.signal(on: reactor)
      }
      #expect(await signal.wait(for: .seconds(60), on: reactor))
      #expect(reactor.pendingTimers == 0)
    }
  }
}

@Suite("Timer queue")
struct TimerQueueTests {
  private final class Target: TimerHandler {
    func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {}
  }

  @Test("timers come due in the order of their deadlines, equal ones in the order they were made")
  func order() {
    var queue = TimerQueue()
    let target = Target()
    let late = queue.schedule(at: 30, target)
    let first = queue.schedule(at: 10, target)
    let second = queue.schedule(at: 10, target)
    #expect(queue.popDue(now: 9) == nil)
    #expect(queue.popDue(now: 10)?.0 == first)
    #expect(queue.popDue(now: 10)?.0 == second)
    #expect(queue.popDue(now: 29) == nil)
    #expect(queue.popDue(now: 30)?.0 == late)
  }

  @Test("a cancelled timer neither fires nor sets the next deadline")
  func cancel() {
    var queue = TimerQueue()
    let target = Target()
    let cancelled = queue.schedule(at: 10, target)
    _ = queue.schedule(at: 20, target)
    queue.cancel(cancelled)
    #expect(queue.nextDeadline() == 20)
    #expect(queue.count == 1)
  }

  @Test("a million cancelled timers do not stay in memory")
  func rebuild() {
    var queue = TimerQueue()
    let target = Target()
    for deadline in 0..<1_000_000 { queue.cancel(queue.schedule(at: UInt64(deadline), target)) }
    #expect(queue.entriesIncludingDead <= 4096)
  }
}

private func == (a: (TimerToken, any TimerHandler)?, b: TimerToken?) -> Bool { a?.0 == b }

@Suite struct MinuteLineTests {
  private static let second: UInt64 = 1_000_000_000

  @Test("the first is told at once, those of its minute with the first after it")
  func tells() {
    var line = MinuteLine()
    let times: [(UInt64, Int?)] = [(5, 1), (5, nil), (64, nil), (65, 3), (66, nil), (124, nil), (125, 3), (185, 1)]
    for (time, told) in times { #expect(line.note(now: time * Self.second) == told) }
  }

  @Test("the last nanosecond of the minute still belongs to it")
  func edge() {
    var line = MinuteLine()
    #expect(line.note(now: 0) == 1)
    #expect(line.note(now: 60 * Self.second - 1) == nil)
    #expect(line.note(now: 60 * Self.second) == 2)
  }
}
