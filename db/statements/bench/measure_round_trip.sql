-- Does nothing, so that its time is the network's and the sessions'.

select 1 as one;
