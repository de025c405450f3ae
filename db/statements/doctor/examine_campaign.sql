-- Calls the functions of a campaign for a user who does not exist.
--
--   :campaign  text  the campaign

select
  (
    select count(*)
    from tacet.campaign_eligible(:campaign, clock_timestamp(), null, uuid '00000000-0000-0000-0000-000000000000')
  ),
  (
    select count(*)
    from tacet.sessions_between(uuid '00000000-0000-0000-0000-000000000000', clock_timestamp(), clock_timestamp())
  ),
  tacet.campaign_material(:campaign, uuid '00000000-0000-0000-0000-000000000000') is null;
