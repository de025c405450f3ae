/// What was taken for what, in lines for people: on the terminal and at the top of the file. Names are not quoted.
package struct WiringSummary {
  private let plan: WiringPlan

  package init(_ plan: WiringPlan) { self.plan = plan }

  /// One line for each need, and one for what else was possible.
  package var lines: [String] {
    var lines = ["messages      \(messages)", "participants  \(participants)"]
    lines.append("users         \(users)")
    lines.append("devices       \(devices)")
    lines.append("presence      \(presence)")
    lines.append(
      "ids           messages \(plan.messageIDs), conversations \(plan.conversationIDs), users \(plan.userIDs)")
    if !plan.blocks.isEmpty {
      let blocks = plan.blocks.map {
        "\($0.table.fullName) (\($0.blocker.name), \($0.blocked.name))\(only($0.conditions))"
      }
      lines.append("blocks        \(blocks.joined(separator: ", "))")
    }
    for subject in WiringQuestion.Subject.allCases {
      guard let others = plan.alternatives[subject] else { continue }
      lines.append("also possible for \(subject.rawValue): \(others.joined(separator: ", ")) (--\(subject.rawValue))")
    }
    lines += plan.unused.map { "\($0) is not used: if it hides something, add it to the functions" }
    if usesLocalTimes { lines.append("times without a zone are taken for UTC") }
    return lines
  }

  private var messages: String {
    let messages = plan.messages
    let columns =
      [messages.id, messages.conversation, messages.sender, messages.body] + [messages.created].compactMap { $0 }
    return "\(messages.table.fullName) (\(columns.map(\.name).joined(separator: ", ")))\(only(messages.conditions))"
  }

  private var participants: String {
    if case .pair(let pair) = plan.participants {
      return
        "\(pair.table.fullName) (\(([pair.id] + pair.users).map(\.name).joined(separator: ", "))), which names both"
    }
    guard case .table(let members) = plan.participants else { return plan.users?.table.everyone ?? "" }
    let columns = [members.conversation, members.user] + [members.read].compactMap { $0 }
    return "\(members.table.fullName) (\(columns.map(\.name).joined(separator: ", ")))\(only(members.conditions))"
  }

  private var users: String {
    guard let users = plan.users else { return "no table, so pushes have no name of a sender" }
    let columns = [users.id] + users.names + [users.zone].compactMap { $0 }
    return "\(users.table.fullName) (\(columns.map(\.name).joined(separator: ", ")))\(only(users.conditions))"
  }

  private var devices: String {
    guard case .table(let devices) = plan.devices else {
      return "tacet_host.devices, which this file creates: apps register with Tacet"
    }
    let columns =
      [devices.user, devices.token] + [devices.platform, devices.app, devices.environment].compactMap { $0 }
    return "\(devices.table.fullName) (\(columns.map(\.name).joined(separator: ", ")))\(only(devices.conditions))"
  }

  private var presence: String {
    var text = "tacet_host.presence, which this file creates"
    if case .table(let members) = plan.participants, let looked = members.looked {
      text += "; also \(members.table.fullName).\(looked.name)"
    }
    return text
  }

  private func only(_ conditions: [RowCondition]) -> String {
    conditions.isEmpty ? "" : " where \(conditions.map(\.words).joined(separator: ", "))"
  }

  private var usesLocalTimes: Bool {
    var columns = [plan.messages.created]
    if case .table(let members) = plan.participants { columns.append(members.looked) }
    return columns.contains { $0?.type == "timestamp" }
  }
}

extension HostTable {
  /// What `everyone` means, of a table of users.
  var everyone: String { "every user of \(fullName) gets every message (now about \(Int(rows)) users)" }
}
