/// English words for past, future and possibility, for the owner of an event and for cancelled events, and phrases
/// without a meaning here.
enum EnglishSenses {
  static let vocabulary = TemporalLanguage.vocabulary([
    .futureSense: """
    is, it's, its, that's, am, i'm, im, are, we're, will, i'll, we'll, it'll, have, has, i have, i've got, ive got, \
    have got, going to, gonna, coming up, upcoming, scheduled, scheduled for, scheduled on, set for, booked for, \
    need to, needs to, must, have to, has to, gotta, supposed to, there's, there is, starts, begins, \
    looking forward to, look forward to, nervous about, anxious about, worried about, stressed about, excited for, \
    excited about, dreading, not until, isn't until, is not until, isn't till, not till, prepare for, \
    preparing for, get ready for, prep for, i present, i fly, taking, due, wish me luck, i meet
    """,
    .pastSense: """
    had, was, were, went, did, gave, attended, finished, passed, failed, aced, bombed, nailed, have had, i've had, \
    i had, we had, i was, it was, took, survived, saw, met, spoke, talked, presented, happened, ended, flew, \
    interviewed, rocked, completed, felt, submitted, handed in, turned in, came, since, wasn't, weren't, didn't, \
    hadn't, missed, is over, is done, are over, are done, i'm done with, it's over, just had, got my, argued, \
    cried, skipped, celebrated, got back from, performed, ran, won, lost, moderated, got through
    """,
    .hedge: """
    maybe, might, perhaps, possibly, probably, potentially, hopefully, may, may have, may be, could have, could be, \
    would be, would have, thinking about, thinking of, considering, want to, wanna, hoping to, hope to, hoping for, \
    not sure, unsure, tentatively, tentative, let's say, i wish, i'd like to, i would like to, should i schedule, \
    should i book, shall we, let's, lets, could schedule, should schedule, was supposed to, were supposed to, \
    used to, trying to get, trying to schedule, planning to, postpone, cancel, reschedule, maybe even, could do, \
    tbd, either, imagine, pretend, dreamt, dreamed, don't know if, don't know whether, wait to hear, \
    waiting to hear, waiting for
    """,
    .condition: """
    if, unless, whether, suppose, supposing, in case, what if, assuming, provided
    """,
    .anothers: """
    his, her, their, he, she, they, he's, she's, they're, he has, she has, they have, my sister, my brother, \
    my son, my daughter, my kid, my kids, my husband, my wife, my partner, my friend, my best friend, my mom, \
    my mum, my dad, my mother, my father, my girlfriend, my boyfriend, my roommate, my cousin, my neighbor, \
    my neighbour, my colleague, my coworker, everyone, everybody, someone, somebody, your, he'll, she'll, they'll, \
    a friend, my parents, my uncle, my aunt, my nephew, my niece, my grandma, my grandpa
    """,
    .writers: """
    i, i'm, im, i'll, i've, i'd, we, we're, we'll, we've, my, our, i have, i've got, me, ive got, i present, i fly, \
    i had, i was, we had, i meet
    """,
    .asking: """
    is, are, was, isn't, do i have, did, do we have, am, is there, when is, when's
    """,
    .pronoun: """
    it, it's, its, that's, it'll, that, this is, they're, which, it is, that is, it was
    """,
    .contrast: """
    but, however, although, though, whereas
    """,
    // Events that do not take place.
    .cancellation: """
    cancelled, canceled, called off, fell through, scrapped, is off, not happening, isn't happening, won't happen, \
    won't be happening, not going to happen, not gonna happen, no longer happening, no longer on, cancelled on, \
    canceled on, got axed, withdrew from, dropped out of, backed out of, fallen through, calling off, \
    called it off, pulled out of, is not on anymore, turned down, isn't on anymore, not taking place
    """,
    .postponement: """
    postponed, rescheduled, delayed, pushed back, pushed to, pushed, moved to, moved it to, moved up, was moved, \
    got moved, been moved, is moved, moved from, moved up to, moved the, put off, brought forward, shifted to, \
    deferred, on hold, moved my, moved our, changed to, switched to, postponing, pushed it to, moving it to, \
    moved until, pushed out
    """,
    .negation: """
    no, not, isn't, is not, don't have, do not have, doesn't have, dont have, no longer have, no more, not having, \
    not going to, won't have, wont have, won't be, aren't, wasn't, without, never, can't make, cannot make, \
    can't make it to, won't make, won't make it to, don't have to go to, don't need to go to, there's no, \
    there is no, got out of, skipping, never had, didn't have, don't have any, haven't got, no longer, \
    not attending, missing, excused from
    """,
    .determiner: """
    my, our, any, another, more, big, important, scheduled, this, that, actual, real, to, today, go to, first
    """,
    // Phrases that only look like times, events or senses.
    .idiom: """
    24/7, 50/50, 9/11, 7/11, may i, may we, march on, march in, good morning, good evening, good night, \
    good afternoon, goodnight, morning person, night owl, at first, at once, at last, at least, at most, at all, \
    for once, some day, someday, these days, day to day, day by day, day one, at the end of the day it's, \
    every day, every night, every morning, all day, all night, day off, sunday best, sunday scaries, black friday, \
    taco tuesday, monday blues, in a minute, in a second, in a sec, second thoughts, second guess, second guessing, \
    on second thought, in the long run, meeting people, meeting new people, meeting my needs, meeting expectations, \
    meeting halfway, game changer, the game of, move on, class act, time and again, date back, to date, up to date, \
    out of date, due to, due diligence, stress test, review of, trip over, guilt trip, crash course, party of, \
    in no time, two minds, 2 minds, once a week, twice a week, per day, per week, any day, the day, same day, \
    the night before, the day before, the day after, call it a day, second nature, at one point, one of, \
    last minute, last time, next time, this time, next step, next level, next door, next to, as of late, past few, \
    the last few, in the past, for a while, a second, one second, on call, catch up on, match made
    """,
    // Doubts about oneself, not about whether the event takes place.
    .idiom: """
    not sure if i, not sure if i'm, don't know if i, don't know if i'm, don't know if i'll, wonder if i, \
    wondering if i, wondering if i'm, worried if i, not sure how, not sure what, wasn't cancelled, not cancelled, \
    isn't cancelled, hasn't been cancelled, wasn't canceled, not canceled, isn't canceled, not sure i, \
    not sure i'm, see if i, ask if i, as if, even if, want to do well, want to cry, want to nail, want to ace, \
    want to prepare, want to practice, want to be ready, want to talk about, hopefully i, hope i, maybe you, \
    might need, if you, might cry, might die, might throw up, might be sick, would be great, let's talk about, \
    thinking about my, thinking about the, i was told, i was wondering, i was hoping, i just found out, \
    was thinking about, don't want to, not cancel, can't cancel
    """,
    // After an hour or an ordinal they show that it counts nothing.
    .idiom: """
    so, because, cause, cuz, since i, then, when, where, who, what, how, why, with, you, please, ok, okay, yes, \
    yeah, too, also, again, already, still, just, really, very, here, there, out, up, as, can, could, would, \
    should, do, does, be, been, being, get, go, feel, feeling, help, wish, thanks, lol, haha, ugh, omg, pls, see, \
    think, start, starting, ready, now, not yet, yet, than, was it, all, us, them, him, these, those, finally, \
    downtown, online, over, i think, i guess, local, right, exactly, latest, both
    """,
  ])
}
