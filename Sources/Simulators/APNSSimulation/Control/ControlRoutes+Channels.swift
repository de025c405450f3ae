internal import HTTPServing
internal import HTTPTypes
internal import SimulationControl

/// Broadcast channels and their subscribers.
extension ControlRoutes {
  /// Three megabytes.
  private static let channelsShownMax = 10_000

  private struct ChannelList: Encodable {
    let channels: [ChannelSummary]
    let total: Int
    let requests: [ChannelRequestRecord]
    let requestsTotal: Int

    private enum CodingKeys: String, CodingKey {
      case channels, total, requests
      case requestsTotal = "requests_total"
    }
  }

  private struct Created: Encodable {
    let identifier: String

    private enum CodingKeys: String, CodingKey {
      case identifier = "channel_id"
    }
  }

  private struct Joined: Encodable {
    let activity: String
  }

  func addChannels(to routes: inout HTTPRoutes) {
    let (desk, service) = (desk, service)
    routes.add(.get, "/channels") { _, _ in try ControlAnswer.json(Self.channels(of: service)) }
    routes.add(.post, "/channels") { request, _ in
      try ControlAnswer.json(Created(identifier: desk.create(ChannelDocument.read(request.body))))
    }
    routes.add(.post, "/channels/subscribers") { request, _ in
      try ControlAnswer.json(Joined(activity: desk.subscribe(SubscriptionDocument.read(request.body))))
    }
  }

  private static func channels(of service: SimulatedService) -> ChannelList {
    let now = service.clock.now
    let all = service.withRegistry { $0.channels }.all
    let subscribers = service.withActivities { activities in
      all.map { activities.subscribers(of: $0.name, at: now) }
    }
    let summaries = zip(all, subscribers).prefix(channelsShownMax).map { channel, count in
      ChannelSummary(channel.name, channel.channel, subscribers: count, at: now)
    }
    let requests = service.channelRequests
    return ChannelList(
      channels: summaries, total: all.count, requests: requests.records, requestsTotal: requests.total)
  }
}
