import CLinux
import Glibc
import Testing

@testable import Reactors

@Suite("Reactor")
struct ReactorTests {
  @Test("a task started on a reactor never leaves its thread, whatever it awaits")
  func tasksStay() async throws {
    let group = try ReactorGroup(count: 1)
    let reactor = group.reactors[0]
    let (before, after, threads) = try await reactor.perform { reactor in
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
    await group.stop()
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
    let group = try ReactorGroup(count: 1)
    let order = try await group.reactors[0].perform { reactor in
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
    await group.stop()
  }

  @Test("an end-of-tick handler runs once after the jobs of its tick")
  func tickEnd() async throws {
    let group = try ReactorGroup(count: 1)
    let entries = try await group.reactors[0].perform { reactor in
      let recorder = TickRecorder()
      reactor.callAtTickEnd(recorder)
      recorder.log.entries.append("job")
      _ = await recorder.signal.wait(on: reactor)
      return recorder.log.entries
    }
    #expect(entries == ["job", "tick end"])
    await group.stop()
  }

  @Test("jobs that breed jobs do not starve timers")
  func fairness() async throws {
    let group = try ReactorGroup(count: 1)
    let fired = try await group.reactors[0].perform { reactor in
      let flag = Log()
      reactor.start { while flag.entries.isEmpty { await Task.yield() } }
      await reactor.sleep(for: .milliseconds(5))
      flag.entries.append("timer")
      return flag.entries
    }
    #expect(fired == ["timer"])
    await group.stop()
  }

  @Test("a stopped group's threads have ended")
  func stopEndsThreads() async throws {
    let group = try ReactorGroup(count: 3, name: "stopping")
    for reactor in group.reactors { try await reactor.perform { _ in } }
    #expect(threadNames().filter { $0.hasPrefix("stopping") }.count == 3)
    await group.stop()
    #expect(threadNames().filter { $0.hasPrefix("stopping") }.isEmpty)
  }

  @Test("an idle reactor sleeps instead of spinning")
  func idleSleeps() async throws {
    let group = try ReactorGroup(count: 1)
    let reactor = group.reactors[0]
    let ticks = try await reactor.perform { reactor in
      let before = reactor.ticks
      await reactor.sleep(for: .milliseconds(100))
      return reactor.ticks - before
    }
    #expect(ticks < 10)
    await group.stop()
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
